// Computes the differences between two versions of a route: targets added, removed or moved, purposes, and every field. Pure.
import { isSameData } from "../lib/json/is-same-data.ts";
import { type Definition, nameOf, type Purpose, type Target } from "./route-shape.ts";

/** Positions begin with 1. The value `undefined`: the field did not exist. */
export type Change =
  | { readonly kind: "added" | "removed"; readonly part: "target"; readonly name: string; readonly position: number }
  | { readonly kind: "added" | "removed"; readonly part: "purpose"; readonly name: string }
  | { readonly kind: "moved"; readonly name: string; readonly from: number; readonly to: number }
  | ({ readonly kind: "changed"; readonly part: "target" | "purpose"; readonly name: string } & FieldChange)
  | ({ readonly kind: "changed"; readonly part: "route" } & FieldChange);

interface FieldChange {
  /** `settings.prompt` is a field of a nested object. */
  readonly field: string;
  readonly from: unknown;
  readonly to: unknown;
}

export function routeDiff(before: Definition, after: Definition): readonly Change[] {
  return [
    ...targetChanges(before.targets, after.targets),
    ...purposeChanges(before.purposes, after.purposes),
    ...fieldChanges(settingsOf(before), settingsOf(after)).map((change) => ({
      kind: "changed" as const,
      part: "route" as const,
      ...change,
    })),
  ];
}

const ELSEWHERE: ReadonlySet<string> = new Set(["id", "targets", "purposes"]);

const settingsOf = (definition: Definition): object =>
  Object.fromEntries(Object.entries(definition).filter(([name]) => !ELSEWHERE.has(name)));

function targetChanges(before: readonly Target[], after: readonly Target[]): readonly Change[] {
  const pairs = pairsOf(before, after);
  const stayed = longestRising(pairs);
  const matchedIndexes = new Set(pairs.map(({ from }) => from));
  const came = new Map(pairs.map((pair) => [pair.to, pair] as const));
  const removed = before.flatMap((target, index) =>
    matchedIndexes.has(index) ? [] : [presence("removed", target, index)],
  );
  const rest = after.flatMap((target, index): readonly Change[] => {
    const pair = came.get(index);
    const old = pair === undefined ? undefined : before[pair.from];
    if (pair === undefined || old === undefined) return [presence("added", target, index)];
    const name = nameOf(old);
    return [
      ...(stayed.has(pair) ? [] : [{ kind: "moved" as const, name, from: pair.from + 1, to: index + 1 }]),
      ...fieldChanges(old, target).map((change) => ({
        kind: "changed" as const,
        part: "target" as const,
        name,
        ...change,
      })),
    ];
  });
  return [...removed, ...rest];
}

const presence = (kind: "added" | "removed", target: Target, index: number): Change => ({
  kind,
  part: "target",
  name: nameOf(target),
  position: index + 1,
});

interface Pair {
  readonly from: number;
  readonly to: number;
}

type IsSame = (old: Target, now: Target, from: number, to: number) => boolean;

/** Matches targets before and after, from the strictest criterion to the loosest: a route may name a model twice. */
const LIKENESSES: readonly IsSame[] = [
  isSameData,
  (old, now) => nameOf(old) === nameOf(now),
  (old, now, from, to) => from === to && old.connection === now.connection,
];

/** In the order before. */
function pairsOf(before: readonly Target[], after: readonly Target[]): readonly Pair[] {
  const pairs: Pair[] = [];
  for (const isSame of LIKENESSES) {
    for (const [from, old] of before.entries()) {
      if (pairs.some((pair) => pair.from === from)) continue;
      const to = after.findIndex((now, at) => !pairs.some((pair) => pair.to === at) && isSame(old, now, from, at));
      if (to !== -1) pairs.push({ from, to });
    }
  }
  return pairs.toSorted((one, other) => one.from - other.from);
}

/** Longest increasing subsequence: these pairs stayed, and the others were moved. */
function longestRising(pairs: readonly Pair[]): ReadonlySet<Pair> {
  const endingAt: (readonly Pair[])[] = [];
  for (const pair of pairs) {
    const before = endingAt.filter((run) => (run.at(-1)?.to ?? -1) < pair.to);
    endingAt.push([...longest(before), pair]);
  }
  return new Set(longest(endingAt));
}

const longest = (runs: readonly (readonly Pair[])[]): readonly Pair[] =>
  runs.reduce<readonly Pair[]>((best, run) => (run.length > best.length ? run : best), []);

/** Order does not matter: a purpose is identified by its label. */
function purposeChanges(before: readonly Purpose[], after: readonly Purpose[]): readonly Change[] {
  const labels = [...new Set([...before, ...after].map(({ purpose }) => purpose))];
  return labels.flatMap((name): readonly Change[] => {
    const old = before.find(({ purpose }) => purpose === name);
    const now = after.find(({ purpose }) => purpose === name);
    if (old === undefined) return [{ kind: "added", part: "purpose", name }];
    if (now === undefined) return [{ kind: "removed", part: "purpose", name }];
    return fieldChanges(old, now).map((change) => ({ kind: "changed", part: "purpose", name, ...change }));
  });
}

function fieldChanges(before: unknown, after: unknown, field = ""): readonly FieldChange[] {
  if (isSameData(before, after)) return [];
  if (!isObject(before) || !isObject(after)) return [{ field, from: before, to: after }];
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].flatMap((name) =>
    before[name] === undefined && after[name] === undefined
      ? []
      : fieldChanges(before[name], after[name], field === "" ? name : `${field}.${name}`),
  );
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
