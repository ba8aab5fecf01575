// Whether two texts hold the same letters, order and spaces aside. Linear: every transcript with words is asked, and one of ten hours has
// half a million of them.
import { withoutSpace } from "./without-space.ts";

export function hasSameLetters(one: string, other: string): boolean {
  const [left, right] = [withoutSpace(one), withoutSpace(other)];
  if (left === right) return true;
  if (left.length !== right.length) return false;
  const more = new Map<number, number>();
  for (let index = 0; index < left.length; index += 1) {
    count(left.charCodeAt(index), 1);
    count(right.charCodeAt(index), -1);
  }
  return more.values().every((difference) => difference === 0);

  function count(letter: number, by: number): void {
    more.set(letter, (more.get(letter) ?? 0) + by);
  }
}
