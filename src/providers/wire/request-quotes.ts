// Removes from a provider's message what it quotes of the request or of an answer [providers.failure-quotes]. Compares letters and digits only, so that
// escapes, case, accents, white space and punctuation do not hide a quotation. Pure.
import { decodeEscapes } from "./decode-escapes.ts";

/** Shorter common parts are ordinary words of both texts. */
const WINDOW = 12;
/** Of a script whose characters are whole words or syllables. */
const WIDE_WINDOW = 4;
const MIN_SHORT = 3;
/** A shorter part between two quotations belongs to them: a secret in a quotation was removed before. */
const MAX_GAP = 24;
/** Compared in 30 to 40 ms, once for a failed call. */
const MAX_TEXT_CHARACTERS = 500_000;
/** For a code and an id. */
const MAX_FOLDED_CHARACTERS = 100_000;
const OMITTED = "[request text]";

/** Null: the texts are too long to compare, so nothing of the message is safe. */
export function withoutQuotes(message: string, texts: readonly string[]): string | null {
  const total = texts.reduce((sum, text) => sum + text.length, 0);
  if (total > MAX_TEXT_CHARACTERS) return null;
  const said = lettersOf(message);
  const written = texts.map((text) => codesOf(text.includes("\\") ? decodeEscapes(text) : text));
  const covered = new Uint8Array(said.codes.length);
  const cover = (from: number, length: number): void => void covered.fill(1, from, from + length);
  coverWindows(said.codes, written, WINDOW, () => true, cover);
  coverWindows(said.codes, written, WIDE_WINDOW, isWide, cover);
  coverShortTexts(message, said, written, cover);
  coverQuoted(message, said, written, cover);
  return covered.includes(1) ? replaceCovered(message, said, closeGaps(covered)) : message;
}

/** Whether a code or an id is a part of a text, or contains a long part of one. In any spelling, unless the texts are too long to fold them. */
export function isQuotation(name: string, texts: readonly string[]): boolean {
  const total = texts.reduce((sum, text) => sum + text.length, 0);
  if (total > MAX_FOLDED_CHARACTERS) return texts.some((text) => text.includes(name));
  const said = lettersOf(name).codes;
  if (said.length === 0) return false;
  const written = texts.map(codesOf);
  let hasPart = false;
  coverWindows(
    said,
    written,
    WINDOW,
    () => true,
    () => void (hasPart = true),
  );
  return hasPart || written.some((codes) => asText(codes).includes(asText(said)));
}

type Codes = readonly number[] | Uint32Array;

interface Letters {
  /** Code points of letters and digits, folded. */
  readonly codes: readonly number[];
  /** Where each is in the text. */
  readonly places: readonly number[];
}

function lettersOf(text: string): Letters {
  const codes: number[] = [];
  const places: number[] = [];
  eachLetter(text, (code, place) => {
    codes.push(code);
    places.push(place);
  });
  return { codes, places };
}

function codesOf(text: string): Uint32Array {
  let codes = new Uint32Array(text.length + 32);
  let length = 0;
  eachLetter(text, (code) => {
    if (length === codes.length) {
      const longer = new Uint32Array(length * 2);
      longer.set(codes);
      codes = longer;
    }
    codes[length] = code;
    length += 1;
  });
  return codes.subarray(0, length);
}

function eachLetter(text: string, found: (code: number, place: number) => void): void {
  for (let place = 0; place < text.length; ) {
    const code = text.codePointAt(place) ?? 0;
    if (code < 128) {
      const folded = code >= 65 && code <= 90 ? code + 32 : code;
      if ((folded >= 97 && folded <= 122) || (folded >= 48 && folded <= 57)) found(folded, place);
    } else for (const each of foldedOf(code)) found(each, place);
    place += code > 0xffff ? 2 : 1;
  }
}

/** In upper case and back, because some letters have no upper case of their own. */
function foldedOf(code: number): readonly number[] {
  const folded = String.fromCodePoint(code).normalize("NFKD").toUpperCase().toLowerCase();
  return (folded.match(/[\p{L}\p{N}]/gu) ?? []).map((letter) => letter.codePointAt(0) ?? 0);
}

/** Ideographs, kana, Hangul and the scripts of South-East Asia without spaces. */
function isWide(code: number): boolean {
  return (code >= 0x0e00 && code <= 0x0eff) || (code >= 0x1000 && code <= 0x11ff) || code >= 0x2e80;
}

/** A collision of hashes covers too much, which is the safe side. */
function coverWindows(
  said: readonly number[],
  written: readonly Codes[],
  size: number,
  counts: (code: number) => boolean,
  cover: (from: number, length: number) => void,
): void {
  const places = new Map<number, number[]>();
  eachWindow(said, size, counts, (hash, from) => {
    const same = places.get(hash);
    if (same === undefined) places.set(hash, [from]);
    else same.push(from);
  });
  if (places.size === 0) return;
  for (const codes of written)
    eachWindow(codes, size, counts, (hash) => {
      for (const from of places.get(hash) ?? []) cover(from, size);
      places.delete(hash);
    });
}

/** A rolling polynomial hash in 32 bits. */
function eachWindow(
  codes: Codes,
  size: number,
  counts: (code: number) => boolean,
  found: (hash: number, from: number) => void,
): void {
  const BASE = 0x0100_0193;
  let power = 1;
  for (let index = 1; index < size; index += 1) power = Math.imul(power, BASE);
  let hash = 0;
  let length = 0;
  for (let index = 0; index < codes.length; index += 1) {
    const code = codes[index] ?? 0;
    if (!counts(code)) {
      hash = 0;
      length = 0;
      continue;
    }
    if (length === size) {
      hash = (hash - Math.imul(codes[index - size] ?? 0, power)) | 0;
      length -= 1;
    }
    hash = (Math.imul(hash, BASE) + code) | 0;
    length += 1;
    if (length === size) found(hash, index - size + 1);
  }
}

/** A text that is shorter than a window, wherever it occurs as whole words. */
function coverShortTexts(
  message: string,
  said: Letters,
  written: readonly Codes[],
  cover: (from: number, length: number) => void,
): void {
  const all = asText(said.codes);
  const indexAt = new Uint32Array(all.length);
  let offset = 0;
  for (const [index, code] of said.codes.entries()) {
    indexAt[offset] = index;
    offset += code > 0xffff ? 2 : 1;
  }
  const short = new Set(written.filter(({ length }) => length >= MIN_SHORT && length < WINDOW).map(asText));
  for (const text of short) {
    const length = Array.from(text).length;
    for (let at = all.indexOf(text); at !== -1; at = all.indexOf(text, at + 1)) {
      const from = indexAt[at] ?? 0;
      if (isWord(message, said.places[from] ?? 0, said.places[from + length - 1] ?? 0)) cover(from, length);
    }
  }
}

function isWord(message: string, first: number, last: number): boolean {
  const isLetter = (text: string): boolean => /[\p{L}\p{N}]/u.test(text);
  return !isLetter(message.charAt(first - 1)) && !isLetter(message.charAt(last + 1));
}

const QUOTED =
  /"([^"]{1,200})"|'([^']{1,200})'|`([^`]{1,200})`|[“„]([^”“]{1,200})[”“]|[‘‚]([^’‘]{1,200})[’‘]|«([^»]{1,200})»/gu;

/** Further ones count as quotations without a comparison. */
const MAX_COMPARED = 100;

/** What a message puts in quotation marks, if a text contains it. */
function coverQuoted(
  message: string,
  said: Letters,
  written: readonly Codes[],
  cover: (from: number, length: number) => void,
): void {
  const quotes = [...message.matchAll(QUOTED)];
  if (quotes.length === 0) return;
  const texts = written.map(asText);
  for (const [number, { index, 0: whole }] of quotes.entries()) {
    const from = said.places.findIndex((place) => place >= index);
    const end = said.places.findIndex((place) => place >= index + whole.length);
    const codes = from === -1 ? [] : said.codes.slice(from, end === -1 ? undefined : end);
    if (codes.length < MIN_SHORT) continue;
    const quoted = asText(codes);
    if (number >= MAX_COMPARED || texts.some((text) => text.includes(quoted))) cover(from, codes.length);
  }
}

function asText(codes: Codes): string {
  let text = "";
  for (const code of codes) text += String.fromCodePoint(code);
  return text;
}

function closeGaps(covered: Uint8Array): Uint8Array {
  let last = -1;
  for (let index = 0; index < covered.length; index += 1) {
    if (covered[index] !== 1) continue;
    if (last !== -1 && index - last <= MAX_GAP) covered.fill(1, last, index);
    last = index;
  }
  return covered;
}

/** Whole words: a quotation may begin in the middle of one. */
function replaceCovered(message: string, { places }: Letters, covered: Uint8Array): string {
  const ranges: { from: number; to: number }[] = [];
  for (let index = 0; index < covered.length; index += 1) {
    if (covered[index] !== 1) continue;
    const place = places[index] ?? 0;
    const last = ranges.at(-1);
    // In a word that is in the range already: looking for its ends again would be quadratic in its length.
    if (last !== undefined && place < last.to) continue;
    const from = startOfWord(message, place);
    const to = endOfWord(message, place);
    if (last !== undefined && (from <= last.to || covered[index - 1] === 1)) last.to = Math.max(last.to, to);
    else ranges.push({ from, to });
  }
  let clean = "";
  let end = 0;
  for (const { from, to } of ranges) {
    clean += `${message.slice(end, from)}${OMITTED}`;
    end = to;
  }
  return clean + message.slice(end);
}

function startOfWord(text: string, place: number): number {
  let start = place;
  while (start > 0 && /[\p{L}\p{N}\p{M}]/u.test(text.charAt(start - 1))) start -= 1;
  return start;
}

function endOfWord(text: string, place: number): number {
  let end = place + ((text.codePointAt(place) ?? 0) > 0xffff ? 2 : 1);
  while (end < text.length && /[\p{L}\p{N}\p{M}]/u.test(text.charAt(end))) end += 1;
  return end;
}
