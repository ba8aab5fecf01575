// Words to a line as their script writes them: Chinese, Japanese, Thai and their kin put no space between words.

/** Characters of such scripts, their full-width punctuation included; for use inside a character class. */
export const UNSPACED =
  "\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}\\p{Script=Myanmar}\\u3000-\\u303f\\uff01-\\uff0f\\uff1a-\\uff20";
const ENDS_UNSPACED = new RegExp(`[${UNSPACED}][^\\p{L}\\p{N}\\s]*$`, "u");
const BEGINS_UNSPACED = new RegExp(`^[^\\p{L}\\p{N}\\s]*[${UNSPACED}]`, "u");

/** What stands between the two. */
export function gapBetween(left: string, right: string): "" | " " {
  if (left === "") return "";
  return ENDS_UNSPACED.test(left) && BEGINS_UNSPACED.test(right) ? "" : " ";
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
