// Runs `sclite` of NIST's scoring toolkit (Debian's package `sctk`), the scorer that the field uses.
import { execFileSync } from "node:child_process";
import { accessSync, constants, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import type { Pair } from "./pairs.ts";

/** The counts of one pair: correct words, substitutions, deletions, insertions. */
export type Counts = readonly [correct: number, substitutions: number, deletions: number, insertions: number];

/** Where Debian installs it, which is not on the PATH. */
const DEBIAN = "/usr/lib/sctk/bin";

/** What makes the fixture. `%` stands for a file with one sentence and its id a line. */
export const SCLITE_ARGUMENTS = ["-i", "rm", "-o", "pra", "stdout"];

export function findSclite(path = process.env["PATH"] ?? ""): string | null {
  for (const directory of [...path.split(delimiter), DEBIAN]) {
    const program = join(directory, "sclite");
    if (isExecutable(program)) return program;
  }
  return null;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** In the order of the pairs. */
export function runSclite(program: string, pairs: readonly Pair[]): readonly Counts[] {
  const folder = mkdtempSync(join(tmpdir(), "patchbay-sclite-"));
  try {
    const write = (name: string, of: (pair: Pair) => string): string => {
      const path = join(folder, name);
      writeFileSync(path, pairs.map((pair, index) => `${of(pair)} (pair-${index})\n`).join(""));
      return path;
    };
    const reference = write("reference.trn", (pair) => pair.reference);
    const transcript = write("transcript.trn", (pair) => pair.transcript);
    const output = execFileSync(program, ["-r", reference, "trn", "-h", transcript, "trn", ...SCLITE_ARGUMENTS], {
      encoding: "utf8",
      maxBuffer: 268_435_456,
      stdio: ["ignore", "pipe", "pipe"],
    });
    return countsIn(output, pairs.length);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** sclite sorts by id. */
function countsIn(output: string, length: number): readonly Counts[] {
  const counts = new Map<number, Counts>();
  let index = -1;
  for (const line of output.split("\n")) {
    const id = /^id: \(pair-(\d+)\)/u.exec(line)?.[1];
    if (id !== undefined) index = Number(id);
    const found = /^Scores: \(#C #S #D #I\) (\d+) (\d+) (\d+) (\d+)/u.exec(line);
    if (found !== null) counts.set(index, [Number(found[1]), Number(found[2]), Number(found[3]), Number(found[4])]);
  }
  if (counts.size !== length) throw new Error(`sclite scored ${counts.size} of ${length} pairs`);
  return Array.from({ length }, (_, each) => counts.get(each) ?? [0, 0, 0, 0]);
}
