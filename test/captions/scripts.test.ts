// Caption lines of every script: cut between words, never inside a character, at most 42 columns wide.
import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { columnsOf } from "../../src/captions/columns.ts";
import { buildCues, LINE_COLUMNS } from "../../src/captions/cues.ts";
import { toSrt } from "../../src/captions/srt.ts";
import type { Segment, Word } from "../../src/contract/transcription/transcription-envelope.ts";

const SECONDS = 20;
const graphemes = new Intl.Segmenter("und", { granularity: "grapheme" });
const words = new Intl.Segmenter("und", { granularity: "word" });

const segmentOf = (text: string, speaker: string | null = null): Segment => ({
  id: 0,
  start: 0,
  end: SECONDS,
  text,
  speaker,
  channel: null,
  confidence: null,
});
const linesOf = (segments: readonly Segment[], given: readonly Word[] = []): readonly string[] =>
  buildCues(segments, given, SECONDS).flatMap(({ lines }) => lines);

/** Where pieces end in the text that they are the whole of. */
function endsOf(pieces: readonly string[]): ReadonlySet<number> {
  let at = 0;
  return new Set(pieces.map((piece) => (at += piece.length)));
}

const SENTENCES: Readonly<Record<string, string>> = {
  Thai: "วันนี้อากาศดีมากแต่พรุ่งนี้ฝนอาจจะตกหนักที่กรุงเทพมหานครและปริมณฑลน้ำท่วมได้",
  Lao: "ມື້ນີ້ອາກາດດີຫຼາຍແຕ່ມື້ອື່ນຝົນອາດຈະຕົກໜັກຢູ່ນະຄອນຫຼວງວຽງຈັນແລະແຂວງອື່ນໆ",
  Khmer: "ថ្ងៃនេះអាកាសធាតុល្អណាស់ប៉ុន្តែថ្ងៃស្អែកអាចមានភ្លៀងធ្លាក់ខ្លាំងនៅរាជធានីភ្នំពេញ",
  Burmese: "ဒီနေ့ရာသီဥတုအရမ်းကောင်းပါတယ်ဒါပေမယ့်မနက်ဖြန်မှာမိုးရွာနိုင်ပါတယ်",
  Chinese: "我们今天在这里讨论明天的天气情况以及后天的旅行计划，希望大家都能准时参加会议。",
  Japanese: "今日は天気がいいですが、明日は東京都内で大雨になるかもしれませんので傘を忘れないでください。",
};
for (const [script, sentence] of Object.entries(SENTENCES)) {
  test(`captions.scripts: FLD-08: ${script} lines are cut between words and are at most 42 columns wide`, () => {
    const text = sentence.repeat(6);
    for (const speaker of [null, "S1"]) {
      const lines = linesOf([segmentOf(text, speaker)]);
      assert.equal(lines.join(""), text);
      const allowed = endsOf([...words.segment(text)].map(({ segment }) => segment));
      for (const end of endsOf(lines)) assert.ok(allowed.has(end), `inside a word: ${text.slice(end - 5, end + 5)}`);
      for (const line of lines) {
        assert.ok(columnsOf(line) <= LINE_COLUMNS, line);
        assert.doesNotMatch(line, /^[、。，！？」）\p{M}]/u);
        assert.doesNotMatch(line, /[「（]$/u);
      }
      assert.ok(lines.filter((line) => columnsOf(line) > 20).length > lines.length / 2, "lines are filled");
    }
    for (const line of toSrt(buildCues([segmentOf(text, "S1")], [], SECONDS)).split("\n"))
      assert.ok(columnsOf(line) <= LINE_COLUMNS, line);
  });

  test(`captions.scripts: FLD-08: ${script} words that a provider cut into characters are joined before a line is cut`, () => {
    const text = sentence.repeat(3);
    const given = Array.from(text, (character, index): Word => {
      const start = index / 10;
      return { text: character, start, end: start + 0.1, speaker: null, confidence: null, channel: null };
    });
    const lines = linesOf([], given);
    const allowed = endsOf([...words.segment(text)].map(({ segment }) => segment));
    const whole = lines.join("");
    assert.equal(whole, text);
    for (const end of endsOf(lines)) assert.ok(allowed.has(end), `inside a word: ${text.slice(end - 5, end + 5)}`);
    for (const line of lines) assert.ok(columnsOf(line) <= LINE_COLUMNS, line);
  });
}

const WIDTHS: readonly [string, number][] = [
  ["plain", 5],
  ["Grüße", 5],
  ["e\u0301", 1],
  ["漢字", 4],
  ["ひらカタ", 8],
  ["한국어", 6],
  ["\u1112\u1161\u11ab", 2],
  ["ﾊﾝｶｸ", 4],
  ["ＡＢ！", 6],
  ["、。「」", 8],
  ["👋", 2],
  ["👍🏽", 2],
  ["👨‍👩‍👧‍👦", 2],
  ["🇩🇪", 2],
  ["❤️", 2],
  ["1️⃣", 2],
  ["©", 1],
  ["น้ำ", 2],
  ["ก็", 1],
  ["שָׁלוֹם", 4],
  ["مَرْحَبًا", 5],
  ["\u200f\u200b", 0],
];
test("captions.column-width: FLD-08: wide characters and emoji sequences count two columns, marks and format characters none", () => {
  for (const [text, columns] of WIDTHS) assert.equal(columnsOf(text), columns, text);
});

test("captions.line-width: FLD-08: a run without spaces that is wider than a line is cut between grapheme clusters", () => {
  const clusters = ["👨‍👩‍👧‍👦", "🇩🇪", "👍🏽", "❤️", "1️⃣", "e\u0301\u0323", "각", "क्षि", "שָׁ", "x", "漢", "น้ำ"];
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom(...clusters), { minLength: 30, maxLength: 120 }),
      fc.boolean(),
      fc.constantFrom(null, "S12"),
      (chosen, isWord, speaker) => {
        const text = chosen.join("");
        const word: Word = { text, start: 0, end: SECONDS, speaker, confidence: null, channel: null };
        const lines = isWord ? linesOf([], [word]) : linesOf([segmentOf(text, speaker)]);
        assert.equal(lines.join(""), text);
        const allowed = endsOf([...graphemes.segment(text)].map(({ segment }) => segment));
        for (const end of endsOf(lines)) assert.ok(allowed.has(end), "inside a grapheme cluster");
        for (const line of lines) assert.ok(columnsOf(line) <= LINE_COLUMNS, line);
      },
    ),
    { numRuns: 200 },
  );
});

test("captions.scripts: FLD-08: right-to-left text and Korean are cut at their spaces", () => {
  for (const text of [
    "שלום לכולם וברוכים הבאים לפגישה של היום",
    "오늘은 날씨가 좋지만 내일은 비가 많이 올 수 있습니다",
  ]) {
    const long = Array.from({ length: 6 }, () => text).join(" ");
    const lines = linesOf([segmentOf(long)]);
    assert.equal(lines.join(" "), long);
    for (const line of lines) assert.ok(columnsOf(line) <= LINE_COLUMNS, line);
  }
});
