// Two transcripts of one recording, word beside word: what is the same, and by how much they differ. Neither is the truth. Pure.
import { editAlignment } from "../lib/text/edit-distance.ts";
import type { CooperativeTask } from "../lib/concurrency/cooperative-task.ts";
import type { SpokenWord } from "./spoken-words.ts";

/** What the two sides are called. */
export const LABELS = ["A", "B"] as const;
export type Label = (typeof LABELS)[number];

/** `A` and `B`: only there. `other`: another word on each side. */
export type RowKind = "same" | "other" | Label;

export interface Row {
  readonly kind: RowKind;
  readonly words: Readonly<Record<Label, SpokenWord | null>>;
  /** When it is heard, as either side knows, or the word before. */
  readonly start: number | null;
}

export interface Comparison {
  readonly rows: readonly Row[];
  readonly counts: Readonly<Record<RowKind, number>>;
  /** Words of the longer side. */
  readonly longer: number;
  /** `other`, `A` and `B` together, for each word of the longer side; at most 1. */
  readonly rate: number;
  /** false: so much differs that counts and rate are upper bounds. */
  readonly isLeast: boolean;
}

export function* compareWords(a: readonly SpokenWord[], b: readonly SpokenWord[]): CooperativeTask<Comparison> {
  const { places, isLeast } = yield* editAlignment(
    a.map(({ key }) => key),
    b.map(({ key }) => key),
  );
  const counts = { same: 0, other: 0, A: 0, B: 0 };
  let start: number | null = null;
  const rows = places.map(({ left, right }): Row => {
    const words = { A: left === null ? null : (a[left] ?? null), B: right === null ? null : (b[right] ?? null) };
    const kind = kindOf(words);
    counts[kind] += 1;
    start = words.A?.start ?? words.B?.start ?? start;
    return { kind, words, start };
  });
  const longer = Math.max(a.length, b.length);
  const edits = counts.other + counts.A + counts.B;
  return { rows, counts, longer, rate: longer === 0 ? 0 : Math.min(1, edits / longer), isLeast };
}

function kindOf({ A, B }: Row["words"]): RowKind {
  if (A === null) return "B";
  if (B === null) return "A";
  return A.key === B.key ? "same" : "other";
}

/** Rows from one to before another. */
export interface Stretch {
  readonly from: number;
  readonly to: number;
}

/** Each run of rows that are not the same. */
export function differencesIn(rows: readonly Row[]): readonly Stretch[] {
  const found: { from: number; to: number }[] = [];
  for (const [index, { kind }] of rows.entries()) {
    if (kind === "same") continue;
    const last = found.at(-1);
    if (last?.to === index) last.to = index + 1;
    else found.push({ from: index, to: index + 1 });
  }
  return found;
}

const SHORT = 12;
const LONG = 30;
const LONGEST = 60;
const ENDS_SENTENCE = /[.?!。？！؟]["'”’»)]*$/u;

/** Pieces to read beside each other: a sentence or two, broken where both sides say the same if there is such a place. */
export function passagesIn(rows: readonly Row[]): readonly Stretch[] {
  const passages: Stretch[] = [];
  let from = 0;
  for (const [index, { kind, words }] of rows.entries()) {
    const length = index + 1 - from;
    const isEnd = kind === "same" && (length >= LONG || (length >= SHORT && ENDS_SENTENCE.test(words.A?.text ?? "")));
    if (!isEnd && length < LONGEST) continue;
    passages.push({ from, to: index + 1 });
    from = index + 1;
  }
  return from < rows.length ? [...passages, { from, to: rows.length }] : passages;
}
