// Normalises a transcript's words for comparison: their letters, their times, and which differences count. Pure.
import { UNSPACED } from "../lib/text/join-words.ts";
import { piecesOf, type Timed } from "./timeline.ts";

export interface SpokenWord {
  /** As written in the transcript. */
  readonly text: string;
  /** Normalised form for comparison. */
  readonly key: string;
  /** Null: unknown. */
  readonly start: number | null;
}

/** What the start times refer to: each word, or its segment. */
export type Times = "words" | "segments" | "none";

export interface SpokenWords {
  readonly words: readonly SpokenWord[];
  readonly times: Times;
}

export function spokenWords(transcript: Timed & { readonly language: string | null }): SpokenWords {
  const { content, words, language } = transcript;
  const pieces = piecesOf(transcript);
  if (pieces.length === 0) return { words: joinPunctuation(wordsIn(content, null, language)), times: "none" };
  if (words.length === 0)
    return {
      words: joinPunctuation(pieces.flatMap(({ text, start }) => wordsIn(text, start, language))),
      times: "segments",
    };
  return { words: joinPunctuation(pieces.map(({ text, start }) => spoken(text.trim(), start))), times: "words" };
}

/** Joins isolated punctuation, as before a French question mark, to the previous word, or to the next if there is none. */
function joinPunctuation(words: readonly SpokenWord[]): readonly SpokenWord[] {
  const found: SpokenWord[] = [];
  let lead = "";
  for (const word of words) {
    const last = found.at(-1);
    if (word.text === "") continue;
    if (IS_SAID.test(word.text)) {
      found.push({ ...word, text: lead + word.text });
      lead = "";
    } else if (last === undefined) lead += `${word.text} `;
    else found[found.length - 1] = { ...last, text: `${last.text} ${word.text}` };
  }
  return lead === "" ? found : [spoken(lead.trim(), words[0]?.start ?? null)];
}

function wordsIn(text: string, start: number | null, language: string | null): readonly SpokenWord[] {
  const chunks = text.split(/\s+/u).filter((chunk) => chunk !== "");
  return chunks.flatMap((chunk) => splitUnspaced(chunk, language)).map((word) => spoken(word, start));
}

const IS_UNSPACED = new RegExp(`[${UNSPACED}]`, "u");

/** Splits scripts without spaces with the browser's segmenter; punctuation joins the previous word. */
function splitUnspaced(chunk: string, language: string | null): readonly string[] {
  if (!IS_UNSPACED.test(chunk)) return [chunk];
  const words: string[] = [];
  let isOpen = false;
  for (const { segment, isWordLike } of segmenterOf(language).segment(chunk)) {
    if (words.length === 0 || (isOpen && isWordLike === true)) words.push(segment);
    else words.push(`${words.pop() ?? ""}${segment}`);
    isOpen ||= isWordLike === true;
  }
  return words;
}

/** A provider's language name may be invalid. */
function segmenterOf(language: string | null): Intl.Segmenter {
  try {
    return new Intl.Segmenter(language ?? undefined, { granularity: "word" });
  } catch {
    return new Intl.Segmenter(undefined, { granularity: "word" });
  }
}

const spoken = (text: string, start: number | null): SpokenWord => ({ text, key: keyOf(text), start });

/** Punctuation is spelling and ignored, except for signs that are read aloud. */
const IS_SAID = /[^\p{P}\s]|[%‰#@&§]/u;

/** Bidirectional, soft-hyphen and zero-width characters: words that look the same are the same. */
const UNSEEN = /[\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]/gu;

/** Case, the form of an apostrophe and surrounding punctuation are spelling, not speech. */
function keyOf(text: string): string {
  const letters = Array.from(text.toLowerCase().normalize("NFC").replaceAll("’", "'").replaceAll(UNSEEN, ""));
  const isSaid = (letter: string): boolean => IS_SAID.test(letter);
  const from = letters.findIndex(isSaid);
  return from === -1 ? text : letters.slice(from, letters.findLastIndex(isSaid) + 1).join("");
}
