// Node.js flags for the processes of tests, trials and benchmarks. Node's compile cache is separate for other flags, and a killed process writes none, so all
// use the same.
import { readFileSync } from "node:fs";
import { join } from "node:path";

const MANIFEST = join(import.meta.dirname, "..", "..", "package.json");

/** The flags of `npm start` (decision 6). */
export function startFlags(): readonly string[] {
  const { scripts } = JSON.parse(readFileSync(MANIFEST, "utf8")) as { scripts: { start: string } };
  return scripts.start.split(" ").filter((word) => word.startsWith("--"));
}

export function testFlags(): readonly string[] {
  return startFlags();
}
