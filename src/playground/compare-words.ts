// The sentences of a comparison, for the page and its file. Pure.
import type { Comparison, Label } from "./comparison.ts";
import type { Side } from "./compare-side.ts";
import { isSimulated, SIMULATED } from "./exports.ts";

export const WHAT_IT_IS =
  "Neither side is the reference: the share shows how much they differ, not which one is wrong. Case, punctuation around words and apostrophe style are ignored.";

export function summaryOf({ counts, longer, rate, isLeast }: Comparison): string {
  const { same, other, A, B } = counts;
  const differences = other + A + B;
  const words = `A has ${same + other + A} words, B ${same + other + B}; the same in both: ${same}.`;
  if (differences === 0) return `${words} No word differs.`;
  const share = `${(100 * rate).toFixed(1)} % of the ${longer} words of the longer side`;
  const kinds = `${other} different on each side, ${A} only in A, ${B} only in B`;
  return isLeast
    ? `${words} Differing words: ${differences} (${kinds}), ${share}.`
    : `${words} Too many differences for an exact alignment. Differing words, at most: ${differences} (${kinds}), ${share}.`;
}

/** Null: neither side was simulated. */
export function simulatedMark(sides: readonly Side[]): string | null {
  const simulated = sides.filter(({ now }) => now.state === "heard" && isSimulated(now.transcript));
  if (simulated.length === 0) return null;
  return `${simulated.map(({ label }): string => label).join(" and ")}: ${SIMULATED}`;
}

export const onlyIn = (label: Label | null): string => (label === null ? "A and B" : `only in ${label}`);
