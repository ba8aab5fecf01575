// Compares two JSON values by the names and types of what they contain.

/**
 * The path of the first difference, or null. Null fits everything, because it depends on the day and on timing whether a time is known or a job has ended. An item
 * of a list has to fit one of the other list.
 */
export function shapeDifference(one: unknown, other: unknown, path = ""): string | null {
  if (one === null || other === null) return null;
  if (Array.isArray(one) && Array.isArray(other)) return listDifference(one, other, path);
  if (Array.isArray(one) || Array.isArray(other) || typeof one !== typeof other) return path;
  if (typeof one !== "object" || typeof other !== "object") return null;
  const [left, right] = [one as Readonly<Record<string, unknown>>, other as Readonly<Record<string, unknown>>];
  for (const name of new Set([...Object.keys(left), ...Object.keys(right)])) {
    if (!(name in left) || !(name in right)) return `${path}/${name}`;
    const difference = shapeDifference(left[name], right[name], `${path}/${name}`);
    if (difference !== null) return difference;
  }
  return null;
}

function listDifference(one: readonly unknown[], other: readonly unknown[], path: string): string | null {
  if ((one.length === 0) !== (other.length === 0)) return path;
  const odd = one.findIndex((item) => other.every((each) => shapeDifference(item, each) !== null));
  return odd === -1 ? null : `${path}/${odd}`;
}
