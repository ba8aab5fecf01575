// Compares two values as JSON data; members may be in any order. It runs for every row that is upserted, so it avoids lists of names and callbacks, which
// cost as much as serialising the row. `isDeepStrictEqual` of Node.js costs more.

/** Values that are not plain data (dates, maps, members that are undefined) are never equal. */
export function isSameData(one: unknown, other: unknown): boolean {
  if (one === other) return one !== undefined;
  if (typeof one !== "object" || typeof other !== "object" || one === null || other === null) return false;
  if (Array.isArray(one) || Array.isArray(other)) return isSameList(one, other);
  const [left, right] = [one as Members, other as Members];
  if (!isPlain(left) || !isPlain(right)) return false;
  let more = 0;
  for (const name in left) {
    if (!isSameData(left[name], right[name])) return false;
    more += 1;
  }
  for (const _ in right) more -= 1;
  return more === 0;
}

function isPlain(value: object): boolean {
  return Object.getPrototypeOf(value) === Object.prototype;
}

type Members = Readonly<Record<string, unknown>>;

function isSameList(one: unknown, other: unknown): boolean {
  if (!Array.isArray(one) || !Array.isArray(other) || one.length !== other.length) return false;
  for (let index = 0; index < one.length; index += 1) if (!isSameData(one[index], other[index])) return false;
  return true;
}
