// Fails on circular imports in src, including type imports.
import { readImports } from "./source-imports.ts";

const imports = new Map([...readImports()].map(([file, each]) => [file, each.map(({ target }) => target)]));
const files = [...imports.keys()];
const cycles = files.flatMap((file) => {
  const wayBack = pathBetween(file, file);
  // Reported once, by the first file of the circle.
  return wayBack !== null && wayBack.every((each) => each >= file) ? [[...wayBack, file]] : [];
});
for (const cycle of cycles) console.error(`cycle: ${cycle.join(" → ")}`);
if (cycles.length > 0) process.exitCode = 1;
else console.log(`cycles: none among ${files.length} files`);

/** The shortest import path, without its end. Null: none. */
function pathBetween(from: string, to: string): readonly string[] | null {
  const reachedBy = new Map<string, string | null>([[from, null]]);
  const queue = [from];
  for (const file of queue)
    for (const next of imports.get(file) ?? []) {
      if (next === to) return wayTo(file, reachedBy);
      if (reachedBy.has(next)) continue;
      reachedBy.set(next, file);
      queue.push(next);
    }
  return null;
}

function wayTo(file: string, reachedBy: ReadonlyMap<string, string | null>): readonly string[] {
  const way: string[] = [];
  for (let at: string | null = file; at !== null; at = reachedBy.get(at) ?? null) way.unshift(at);
  return way;
}
