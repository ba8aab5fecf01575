// Aligns two transcripts of one recording word by word and measures their difference. Neither is taken as the reference. Pure.
import { editAlignment } from "../lib/text/edit-distance.ts";
import type { SpokenWord } from "./spoken-words.ts";

/** Names of the two sides. */
export const LABELS = ["A", "B"] as const;
export type Label = (typeof LABELS)[number];

/** `A` and `B`: only on that side. `other`: different words. */
export type RowKind = "same" | "other" | Label;

export interface Row {
  readonly kind: RowKind;
  readonly words: Readonly<Record<Label, SpokenWord | null>>;
  /** Start time from either side, else from the previous word. */
  readonly start: number | null;
}

export interface Comparison {
  readonly rows: readonly Row[];
  readonly counts: Readonly<Record<RowKind, number>>;
  /** Number of words of the longer side. */
  readonly longer: number;
  /** `other`, `A` and `B` together, per word of the longer side; at most 1. */
  readonly rate: number;
  /** False: the transcripts differ so much that counts and rate are upper bounds. */
  readonly isLeast: boolean;
}

export function compareWords(a: readonly SpokenWord[], b: readonly SpokenWord[]): Comparison {
  const { places, isLeast } = editAlignment(
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

/** A range of rows, end exclusive. */
export interface Stretch {
  readonly from: number;
  readonly to: number;
}

/** Each run of differing rows. */
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

/** Passages of a sentence or two for side-by-side reading, preferably split where both sides agree. */
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
