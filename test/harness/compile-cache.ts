// Where Node keeps what it compiled: every process of the tests and trials loads the same few hundred modules, whose types are stripped
// and which are compiled once.
import { mkdirSync, readdirSync, renameSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** The value of NODE_COMPILE_CACHE. */
export const COMPILED = join(tmpdir(), `patchbay-test-${process.getuid?.() ?? 0}`, "compiled");

/** Several times what one version of all files leaves there. */
const MOST_ENTRIES = 30_000;

/** Every version of every file leaves an entry: begun anew when there are too many. The old ones go while the tests run. */
export function pruneCompiled(): void {
  mkdirSync(COMPILED, { recursive: true });
  if (readdirSync(COMPILED, { recursive: true }).length <= MOST_ENTRIES) return;
  const aside = `${COMPILED}-${process.pid}`;
  renameSync(COMPILED, aside);
  void rm(aside, { recursive: true, force: true });
}
