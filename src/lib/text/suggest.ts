// "Did you mean" suggestions: the candidate closest to a mistyped name, if one is close enough.

/** Undefined: none is close. Up to a third of the name may differ, and always two letters of a name of four or more. */
export function suggest(written: string, candidates: Iterable<string>): string | undefined {
  if (written.length > 64) return undefined;
  const names = [...candidates];
  const longer = written.length >= 4 ? names.find((name) => name.startsWith(`${written}_`)) : undefined;
  if (longer !== undefined) return longer;
  const allowed = Math.max(Math.floor(written.length / 3), written.length >= 4 ? 2 : 1);
  let best: { readonly name: string; readonly distance: number } | undefined;
  for (const name of names) {
    const distance = editDistance(written.toLowerCase(), name.toLowerCase());
    if (distance <= allowed && distance < name.length && (best === undefined || distance < best.distance))
      best = { name, distance };
  }
  return best?.name;
}

/** Counts insertions, deletions, replacements and transpositions. */
function editDistance(a: string, b: string): number {
  let beforePrevious: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= b.length; column += 1) {
      const isSame = a[row - 1] === b[column - 1];
      let distance = Math.min(
        (previous[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (previous[column - 1] ?? 0) + (isSame ? 0 : 1),
      );
      if (row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]) {
        distance = Math.min(distance, (beforePrevious[column - 2] ?? 0) + 1);
      }
      current.push(distance);
    }
    beforePrevious = previous;
    previous = current;
  }
  return previous[b.length] ?? 0;
}
