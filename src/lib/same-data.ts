// Whether two values say the same as JSON: the same texts, numbers, lists and members, these in any order. Asked for every row that is kept,
// so without a list of names and a call for each: that took as long as wording the row anew, and `isDeepStrictEqual` of Node longer.

/** What is no plain data is the same as nothing else: a date, a map, or what holds `undefined`, which JSON would leave out. */
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
