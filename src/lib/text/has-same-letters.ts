// Compares the letters of two texts, ignoring order and white space. Linear, because it runs on every transcript with words: one of ten hours has half a
// million letters.
import { stripToLetters } from "./strip-to-letters.ts";

export function hasSameLetters(one: string, other: string): boolean {
  const [left, right] = [stripToLetters(one), stripToLetters(other)];
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
