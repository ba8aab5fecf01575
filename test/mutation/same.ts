// Mutants that change nothing: no test can notice them, so they are not counted. Each has its reason.
import type { Mutant } from "./changes.ts";

interface Same {
  readonly file: string;
  /** The mutated line as it is printed, whole. */
  readonly after: string;
  readonly why: string;
}

const SAME: readonly Same[] = [];

/** Null: it changes something. */
export function sameness(file: string, { after }: Mutant): string | null {
  return SAME.find((each) => each.file === file && each.after === after)?.why ?? null;
}
