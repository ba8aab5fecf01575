// Measures a text in terminal columns: 2 for East Asian wide characters and emoji, 0 for combining marks, 1 otherwise. Reads Unicode properties, so that it
// follows the runtime's Unicode version. Pure: browsers load this module too.

const GRAPHEMES = new Intl.Segmenter("und", { granularity: "grapheme" });
/** Narrow spacing characters, of which most texts consist. */
const SINGLE = /^[\u0020-\u007e\u00a0-\u00ac\u00ae-\u02ff]*$/;
/** In a text without a match, each grapheme cluster is as wide as the sum of its characters. */
const MAY_HOLD_EMOJI = /[\ufe0f\p{Emoji_Presentation}]/u;
const EMOJI = /\p{Emoji_Presentation}|\p{Emoji}\ufe0f/u;
const ZERO = /[\p{Mn}\p{Me}\p{Cf}\p{Cc}\u1160-\u11ff]/u;
const HALF_WIDTH = /[\uff61-\uffdc]/;
/** East Asian Width W and F, by script; "ambiguous" characters are narrow outside East Asian fonts and count 1. */
const WIDE =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Bopomofo}\p{Script=Yi}\p{Script=Tangut}\p{Script=Nushu}\u3000-\u303e\u309b-\u309c\u30a0\u30fb-\u30fc\u31c0-\u33ff\ufe30-\ufe6b\uff01-\uff60\uffe0-\uffe6]/u;

export function columnsOf(text: string): number {
  if (SINGLE.test(text)) return text.length;
  if (!MAY_HOLD_EMOJI.test(text)) return columnsOfCharacters(text);
  let columns = 0;
  for (const cluster of graphemesOf(text)) columns += EMOJI.test(cluster) ? 2 : columnsOfCharacters(cluster);
  return columns;
}

/** Yields the grapheme clusters of a text in order. */
export function* graphemesOf(text: string): Generator<string, void> {
  for (const { segment } of GRAPHEMES.segment(text)) yield segment;
}

function columnsOfCharacters(text: string): number {
  let columns = 0;
  for (const character of text) {
    if (ZERO.test(character)) continue;
    columns += WIDE.test(character) && !HALF_WIDTH.test(character) ? 2 : 1;
  }
  return columns;
}
