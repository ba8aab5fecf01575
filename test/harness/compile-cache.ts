// The directory of Node's compile cache: all processes of tests and trials load the same few hundred modules, which are stripped of types and compiled once.
import { mkdirSync, readdirSync, renameSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** The value of NODE_COMPILE_CACHE. */
export const COMPILED = join(tmpdir(), `patchbay-test-${process.getuid?.() ?? 0}`, "compiled");

/** Several times the number of entries for one version of all files. */
const MOST_ENTRIES = 30_000;

/** Every version of every file adds an entry, so the cache is recreated if it has too many. Old entries are deleted while the tests run. */
export function pruneCompiled(): void {
  mkdirSync(COMPILED, { recursive: true });
  if (readdirSync(COMPILED, { recursive: true }).length <= MOST_ENTRIES) return;
  const aside = `${COMPILED}-${process.pid}`;
  renameSync(COMPILED, aside);
  void rm(aside, { recursive: true, force: true });
}
