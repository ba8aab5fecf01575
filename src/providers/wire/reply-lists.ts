// Validates long lists of a reply in place: an hour has ten thousand words, and copying each in a schema caused a fifth of a request's garbage.
import { z } from "zod";

/** An unvalidated item: any member may have any type, or be missing. */
type Unread<Item> = Readonly<Record<keyof Item, unknown>>;

/** Members that `isItem` does not check may have any type. */
export function listOf<Item extends object>(isItem: (each: Unread<Item>) => boolean): z.ZodType<readonly Item[]> {
  const isGood = (each: unknown): boolean => typeof each === "object" && each !== null && isItem(each as Unread<Item>);
  return z.custom<readonly Item[]>((value) => Array.isArray(value) && value.every(isGood));
}

export function isText(value: unknown): boolean {
  return typeof value === "string";
}

export function isTextOrNone(value: unknown): boolean {
  return value === undefined || value === null || typeof value === "string";
}

export function isNumberOrNone(value: unknown): boolean {
  return value === undefined || value === null || Number.isFinite(value);
}
