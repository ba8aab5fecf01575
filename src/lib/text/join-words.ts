// Joins words into text. Chinese, Japanese, Thai and related scripts have no spaces between words.

/** Characters of those scripts, with full-width punctuation and the long vowel mark, for use inside a character class. */
export const UNSPACED =
  "\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}\\p{Script=Myanmar}\\u3000-\\u303f\\u30fb\\u30fc\\uff70\\uff01-\\uff0f\\uff1a-\\uff20";
const IS_UNSPACED = new RegExp(`[${UNSPACED}]`, "u");
const ENDS_PUNCTUATION = /[\p{L}\p{N}\s]/u;
const BEGINS_UNSPACED = new RegExp(`^[^\\p{L}\\p{N}\\s]*[${UNSPACED}]`, "u");

/** The separator between two words. */
export function gapBetween(left: string, right: string): "" | " " {
  if (left === "") return "";
  return endsUnspaced(left) && BEGINS_UNSPACED.test(right) ? "" : " ";
}

/** Scans from the end: a regular expression would be quadratic on a hundred thousand full stops from a provider. */
function endsUnspaced(text: string): boolean {
  for (let end = text.length; end > 0; ) {
    const isPair = end > 1 && /[\u{10000}-\u{10ffff}]/u.test(text.slice(end - 2, end));
    const start = isPair ? end - 2 : end - 1;
    const character = text.slice(start, end);
    if (IS_UNSPACED.test(character)) return true;
    if (ENDS_PUNCTUATION.test(character)) return false;
    end = start;
  }
  return false;
}

export function joinWords(words: readonly string[]): string {
  let line = "";
  let last = "";
  for (const word of words) {
    line += gapBetween(last, word) + word;
    last = word;
  }
  return line;
}
