// Whether two values are the same as JSON has it: of the same texts, numbers, lists and members, whatever the order of these.

export function isSameData(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (typeof one !== "object" || typeof other !== "object" || one === null || other === null) return false;
  if (Array.isArray(one) || Array.isArray(other)) return isSameList(one, other);
  const [left, right] = [one as Members, other as Members];
  const names = Object.keys(left);
  return (
    names.length === Object.keys(right).length &&
    names.every((name) => Object.hasOwn(right, name) && isSameData(left[name], right[name]))
  );
}

type Members = Readonly<Record<string, unknown>>;

function isSameList(one: unknown, other: unknown): boolean {
  if (!Array.isArray(one) || !Array.isArray(other) || one.length !== other.length) return false;
  return one.every((item, index) => isSameData(item, other[index]));
}
