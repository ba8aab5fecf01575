// Replies whose lists of words and segments lack some of their text, or have more than it [transcription.text-preserved]. The text itself
// is never touched.
import * as fc from "fast-check";
import { type Conversation, idOf, type Spoken } from "./conversation.ts";

export type Holes = (word: Spoken, index: number, all: readonly Spoken[]) => boolean;

/** What no list has any more: the beginning, the middle, the end, one speaker, one channel, anything, everything. */
export const holes: fc.Arbitrary<Holes> = fc.oneof(
  fc.integer({ min: 1, max: 12 }).map(
    (count): Holes =>
      (_, index) =>
        index < count,
  ),
  fc.tuple(fc.integer({ min: 1, max: 20 }), fc.integer({ min: 1, max: 8 })).map(
    ([from, count]): Holes =>
      (_, index) =>
        index >= from && index < from + count,
  ),
  fc.integer({ min: 1, max: 12 }).map(
    (count): Holes =>
      (_, index, all) =>
        index >= all.length - count,
  ),
  fc.integer({ min: 0, max: 2 }).map(
    (lost): Holes =>
      ({ speaker }) =>
        speaker === lost,
  ),
  fc.integer({ min: 0, max: 2 }).map(
    (lost): Holes =>
      ({ channel }) =>
        channel === lost,
  ),
  fc.array(fc.integer({ min: 0, max: 40 }), { maxLength: 20 }).map(
    (lost): Holes =>
      (_, index) =>
        lost.includes(index),
  ),
  fc.constant((): boolean => true),
);

const LISTS = new Set(["words", "annotations", "utterances", "segments"]);
const TEXTS = ["punctuated_word", "word", "text", "transcript"] as const;

/** `strangers`: at which places of each list there is a word that was not spoken. */
export function withHoles(
  reply: unknown,
  conversation: Conversation,
  isLost: Holes,
  strangers: readonly number[],
): unknown {
  const lost = new Set(conversation.words.filter(isLost).map(({ text }) => idOf(text)));
  const change = (value: unknown, key: string): unknown => {
    if (Array.isArray(value)) {
      const kept = LISTS.has(key) ? value.filter((each) => !lost.has(idOf(textOf(each)))) : value;
      const all = kept.map((each: unknown) => change(each, ""));
      return LISTS.has(key)
        ? all.flatMap((each, index) => (strangers.includes(index) ? [strange(each), each] : [each]))
        : all;
    }
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, change(each, name)]));
  };
  return change(reply, "");
}

function textOf(item: unknown): string {
  const found = TEXTS.map((name) => (item as Readonly<Record<string, unknown>>)[name]);
  return found.find((text) => typeof text === "string") ?? "";
}

function strange(item: unknown): unknown {
  const named = TEXTS.filter((name) => typeof (item as Readonly<Record<string, unknown>>)[name] === "string");
  const texts = named.length > 0 ? named : (["text"] as const);
  return { ...(item as object), ...Object.fromEntries(texts.map((name) => [name, " stranger"])) };
}
