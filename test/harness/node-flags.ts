// What processes of the tests, trials and benches give to Node. Those that share it share what was compiled too: Node keeps it apart for other
// flags, and a process that is killed leaves nothing.
import { readFileSync } from "node:fs";
import { join } from "node:path";

const MANIFEST = join(import.meta.dirname, "..", "..", "package.json");

/** What `npm start` gives it (decision 6). */
export function startFlags(): readonly string[] {
  const { scripts } = JSON.parse(readFileSync(MANIFEST, "utf8")) as { scripts: { start: string } };
  return scripts.start.split(" ").filter((word) => word.startsWith("--"));
}

export function testFlags(): readonly string[] {
  return startFlags();
}
