// Finds a common subsequence: patience diff (items unique on both sides are anchors), then the longest common subsequence of small gaps. Near-linear on
// long, similar sequences and never quadratic, unlike libraries (docs/decisions/0040).

/** `[index in one, index in other]`, both ascending. */
export type Match = readonly [number, number];

/** Larger gaps between two anchors are not matched. */
const MOST_CELLS = 250_000;

interface Range {
  readonly from: number;
  readonly to: number;
}

export function commonSubsequence(one: readonly string[], other: readonly string[]): readonly Match[] {
  const found: Match[] = [];
  const open: [Range, Range][] = [
    [
      { from: 0, to: one.length },
      { from: 0, to: other.length },
    ],
  ];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [inOne, inOther] = trimmed(one, other, next[0], next[1], found);
    if (inOne.from === inOne.to || inOther.from === inOther.to) continue;
    const anchors = anchorsOf(one, other, inOne, inOther);
    const matches = anchors.length === 0 ? longest(one, other, inOne, inOther) : anchors;
    for (const match of matches) found.push(match);
    if (anchors.length > 0) for (const ranges of between(anchors, inOne, inOther)) open.push(ranges);
  }
  return found.toSorted(([left], [right]) => left - right);
}

/** Matches the common prefix and suffix first. */
function trimmed(
  one: readonly string[],
  other: readonly string[],
  inOne: Range,
  inOther: Range,
  found: Match[],
): readonly [Range, Range] {
  let { from: a, to: aEnd } = inOne;
  let { from: b, to: bEnd } = inOther;
  while (a < aEnd && b < bEnd && one[a] === other[b]) found.push([a++, b++]);
  while (a < aEnd && b < bEnd && one[aEnd - 1] === other[bEnd - 1]) found.push([--aEnd, --bEnd]);
  return [
    { from: a, to: aEnd },
    { from: b, to: bEnd },
  ];
}

function between(anchors: readonly Match[], inOne: Range, inOther: Range): readonly [Range, Range][] {
  return [...anchors, [inOne.to, inOther.to] as const].map(([a, b], index) => {
    const [lastA, lastB] = anchors[index - 1] ?? [inOne.from - 1, inOther.from - 1];
    return [
      { from: lastA + 1, to: a },
      { from: lastB + 1, to: b },
    ];
  });
}

/** Items that occur once on each side, in the same order: the longest increasing subsequence of positions. */
function anchorsOf(one: readonly string[], other: readonly string[], inOne: Range, inOther: Range): readonly Match[] {
  const places = uniquePlaces(other, inOther);
  const pairs = [...uniquePlaces(one, inOne)].flatMap(([key, a]): Match[] => {
    const b = places.get(key);
    return b === undefined ? [] : [[a, b]];
  });
  return longestRising(pairs);
}

function uniquePlaces(items: readonly string[], { from, to }: Range): ReadonlyMap<string, number> {
  const places = new Map<string, number>();
  const repeated = new Set<string>();
  for (let index = from; index < to; index++) {
    const item = items[index] ?? "";
    if (places.has(item)) repeated.add(item);
    else places.set(item, index);
  }
  for (const item of repeated) places.delete(item);
  return places;
}

function longestRising(pairs: readonly Match[]): readonly Match[] {
  interface Link {
    readonly match: Match;
    readonly before: Link | undefined;
  }
  const tails: Link[] = [];
  for (const match of pairs) {
    let low = 0;
    let high = tails.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((tails[middle]?.match[1] ?? 0) < match[1]) low = middle + 1;
      else high = middle;
    }
    tails[low] = { match, before: tails[low - 1] };
  }
  const rising: Match[] = [];
  for (let link = tails.at(-1); link !== undefined; link = link.before) rising.push(link.match);
  return rising.toReversed();
}

/** The standard dynamic programming table. */
function longest(one: readonly string[], other: readonly string[], inOne: Range, inOther: Range): readonly Match[] {
  const rows = inOne.to - inOne.from;
  const columns = inOther.to - inOther.from;
  if (rows * columns > MOST_CELLS) return [];
  const width = columns + 1;
  const lengths = new Uint32Array((rows + 1) * width);
  const isSame = (row: number, column: number): boolean => one[inOne.from + row] === other[inOther.from + column];
  const at = (row: number, column: number): number => lengths[row * width + column] ?? 0;
  for (let row = rows - 1; row >= 0; row--)
    for (let column = columns - 1; column >= 0; column--)
      lengths[row * width + column] = isSame(row, column)
        ? at(row + 1, column + 1) + 1
        : Math.max(at(row + 1, column), at(row, column + 1));
  const found: Match[] = [];
  for (let row = 0, column = 0; row < rows && column < columns; ) {
    if (isSame(row, column)) found.push([inOne.from + row++, inOther.from + column++]);
    else if (at(row + 1, column) >= at(row, column + 1)) row++;
    else column++;
  }
  return found;
}
