// Aligns two sequences with the fewest edits (Levenshtein distance with its alignment), by Ukkonen's algorithm, so that similar sequences cost little.
// Beyond a bound it aligns them along a common subsequence instead, which is near-linear (docs/decisions/0040).
import { commonSubsequence } from "./common-subsequence.ts";

/** Indices. Null: no item on that side. Never both null. */
export interface Place {
  readonly left: number | null;
  readonly right: number | null;
}

export interface Alignment {
  readonly places: readonly Place[];
  /** False: beyond the bound, where fewer edits may exist. */
  readonly isLeast: boolean;
}

/** Memory is four bytes times its square, 36 MB. Two transcripts of 20,000 words take half a second. */
const MOST_EDITS = 3_000;

/** The alignment from right to left is the same, mirrored. */
export function editAlignment(left: readonly string[], right: readonly string[]): Alignment {
  if (!isBefore(right, left)) return inOrder(left, right);
  const { places, isLeast } = inOrder(right, left);
  return { places: places.map(({ left, right }) => ({ left: right, right: left })), isLeast };
}

function isBefore(one: readonly string[], other: readonly string[]): boolean {
  if (one.length !== other.length) return one.length < other.length;
  const at = one.findIndex((item, index) => item !== other[index]);
  return at !== -1 && (one[at] ?? "") < (other[at] ?? "");
}

function inOrder(left: readonly string[], right: readonly string[]): Alignment {
  const reached = furthestPoints(left, right);
  if (reached !== null) return { places: wayBack(reached, left.length, right.length), isLeast: true };
  const matches = commonSubsequence(left, right);
  const places: Place[] = [];
  let [l, r] = [0, 0];
  for (const [toLeft, toRight] of [...matches, [left.length, right.length] as const]) {
    while (l < toLeft || r < toRight) places.push({ left: l < toLeft ? l++ : null, right: r < toRight ? r++ : null });
    if (l < left.length) places.push({ left: l++, right: r++ });
  }
  return { places, isLeast: false };
}

/** For a number of edits: the furthest left index on each diagonal `right - left`, from -edits to edits; -1: not reached. */
type Reached = readonly Int32Array[];

const pointOf = (points: Int32Array | undefined, diagonal: number): number =>
  points?.[diagonal + (points.length >> 1)] ?? -1;

/** Null: more edits than the bound. */
function furthestPoints(left: readonly string[], right: readonly string[]): Reached | null {
  const last = right.length - left.length;
  const reached: Int32Array[] = [];
  if (Math.abs(last) > MOST_EDITS) return null;
  for (let edits = 0; edits <= MOST_EDITS; edits += 1) {
    const points = new Int32Array(2 * edits + 1).fill(-1);
    for (let diagonal = -edits; diagonal <= edits; diagonal += 1) {
      let at = edits === 0 ? 0 : stepOf(reached[edits - 1], diagonal, left.length, right.length).at;
      if (at === -1) continue;
      while (at < left.length && at + diagonal < right.length && left[at] === right[at + diagonal]) at += 1;
      points[diagonal + edits] = at;
    }
    reached.push(points);
    if (pointOf(points, last) === left.length) return reached;
  }
  return null;
}

/** The edit that reaches furthest along a diagonal, before the matching run that follows. */
function stepOf(
  before: Int32Array | undefined,
  diagonal: number,
  lefts: number,
  rights: number,
): { readonly at: number; readonly from: number } {
  const across = pointOf(before, diagonal);
  const above = pointOf(before, diagonal + 1);
  const under = pointOf(before, diagonal - 1);
  let best = { at: -1, from: diagonal };
  if (across !== -1 && across < lefts && across + diagonal < rights) best = { at: across + 1, from: diagonal };
  if (above !== -1 && above < lefts && above + 1 > best.at) best = { at: above + 1, from: diagonal + 1 };
  if (under !== -1 && under + diagonal <= rights && under > best.at) best = { at: under, from: diagonal - 1 };
  return best;
}

function wayBack(reached: Reached, lefts: number, rights: number): readonly Place[] {
  const places: Place[] = [];
  let diagonal = rights - lefts;
  let at = lefts;
  for (let edits = reached.length - 1; edits >= 0; edits -= 1) {
    const step = edits === 0 ? { at: 0, from: 0 } : stepOf(reached[edits - 1], diagonal, lefts, rights);
    for (; at > step.at; at -= 1) places.push({ left: at - 1, right: at - 1 + diagonal });
    if (edits === 0) break;
    places.push({
      left: step.from < diagonal ? null : at - 1,
      right: step.from > diagonal ? null : at - 1 + diagonal,
    });
    if (step.from >= diagonal) at -= 1;
    diagonal = step.from;
  }
  return places.toReversed();
}
