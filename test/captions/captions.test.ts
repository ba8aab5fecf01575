// Captions keep every word, in order, within the audio; srt and vtt are read back by parsers of this file.
import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { buildCues, LINE_COLUMNS } from "../../src/captions/cues.ts";
import { toPlainText } from "../../src/captions/plain-text.ts";
import { toSrt } from "../../src/captions/srt.ts";
import { captionTimestamp } from "../../src/captions/timestamp.ts";
import { toVtt } from "../../src/captions/vtt.ts";
import type { Segment, Word } from "../../src/contract/transcription/transcription-envelope.ts";

const DURATION = 600;

const token = fc.oneof(
  fc.stringMatching(/^[a-zA-Z0-9,.!?'é漢字<>&-]{1,14}$/),
  fc.constantFrom("-->", "<b>", "&amp;", "</v>", "00:00:01,000", "NOTE"),
);
const spokenWords = fc
  .array(
    fc.record({
      text: token,
      gap: fc.integer({ min: 0, max: 2000 }),
      length: fc.integer({ min: 0, max: 900 }),
      speaker: fc.constantFrom("S1", "S2"),
    }),
    { maxLength: 60 },
  )
  .map((items): readonly Word[] => {
    let atMs = 0;
    return items.map(({ text, gap, length, speaker }) => {
      const start = atMs + gap;
      atMs = start + length;
      return { text, start: start / 1000, end: atMs / 1000, speaker, confidence: null, channel: 0 };
    });
  });

function asSegments(words: readonly Word[]): readonly Segment[] {
  return words.map((word, id) => ({
    id,
    start: word.start,
    end: word.end,
    text: `${word.text} ${word.text}`,
    speaker: word.speaker,
    channel: word.channel,
    confidence: null,
  }));
}

function readSrt(text: string): { start: string; end: string; text: string }[] {
  return text
    .split(/\n\n/)
    .filter((block) => block.trim() !== "")
    .map((block, index) => {
      const [number, times, ...lines] = block.trimEnd().split("\n");
      assert.equal(number, String(index + 1), "numbers begin at 1 and have no hole");
      const match = /^(\d\d:\d\d:\d\d,\d{3}) --> (\d\d:\d\d:\d\d,\d{3})$/.exec(times ?? "");
      assert(match?.[1] !== undefined && match[2] !== undefined, times);
      return { start: match[1], end: match[2], text: lines.join(" ") };
    });
}

function readVtt(text: string): { start: string; end: string; text: string }[] {
  const [header, ...blocks] = text.split(/\n\n/).filter((block) => block.trim() !== "");
  assert.equal(header?.trim(), "WEBVTT");
  return blocks.map((block) => {
    const [times, ...lines] = block.trimEnd().split("\n");
    const match = /^(\d\d:\d\d:\d\d\.\d{3}) --> (\d\d:\d\d:\d\d\.\d{3})$/.exec(times ?? "");
    assert(match?.[1] !== undefined && match[2] !== undefined, times);
    const body = lines.join(" ");
    assert(!body.includes("-->"), "no arrow in cue text");
    const unescaped = body
      .replace(/^<v S\d+>/, "")
      .replaceAll("&lt;", "<")
      .replaceAll("&gt;", ">")
      .replaceAll("&amp;", "&");
    return { start: match[1], end: match[2], text: unescaped };
  });
}

const withoutChineseGaps = (text: string): string =>
  text.replace(/(?<=[漢字][^\p{L}\p{N}\s]*) (?=[^\p{L}\p{N}\s]*[漢字])/gu, "");

test("captions.nothing-lost, captions.escaping: srt and vtt read back with every word, in order, starts never decreasing, no cue without a moment to be seen", () => {
  fc.assert(
    fc.property(spokenWords, fc.boolean(), (words, fromSegments) => {
      const cues = fromSegments ? buildCues(asSegments(words), [], DURATION) : buildCues([], words, DURATION);
      const expected = (
        fromSegments ? words.flatMap((word) => [word.text, word.text]) : words.map((word) => word.text)
      ).join(" ");
      const srt = readSrt(toSrt(cues));
      const vtt = readVtt(toVtt(cues));
      // A segment's spaces are kept, and its lines may also end next to a Chinese word, where it has none.
      const written = (text: string) =>
        !fromSegments ? withoutChineseGaps(text) : /[漢字]/u.test(text) ? text.replaceAll(" ", "") : text;
      const read = srt.map((cue) => cue.text.replace(/^S\d+: /, "")).join(" ");
      assert.equal(written(read), written(expected.replaceAll("-->", "→")));
      assert.equal(written(vtt.map((cue) => cue.text).join(" ")), written(expected));
      for (const parsed of [srt, vtt]) {
        for (const [index, cue] of parsed.entries()) {
          assert(cue.start < cue.end, `${cue.start} ${cue.end}`);
          assert(index === 0 || (parsed[index - 1]?.start ?? "") <= cue.start);
        }
      }
      for (const cue of cues) {
        for (const line of cue.lines) assert(line.length <= LINE_COLUMNS || !line.includes(" "), line);
        assert(cue.end <= DURATION);
      }
    }),
    { numRuns: 500 },
  );
});

test("captions.at-the-end: what a provider put behind the end of the audio, and was moved to it, is shown for a moment before it", () => {
  const at = (id: number, start: number, end: number, text: string): Segment => ({
    id,
    start,
    end,
    text,
    speaker: `S${id + 1}`,
    channel: null,
    confidence: null,
  });
  const timesOf = (...segments: readonly Segment[]) => buildCues(segments, [], 7).map(({ start, end }) => [start, end]);
  assert.deepEqual(timesOf(at(0, 0, 5, "Good bye."), at(1, 7, 7, "Thanks.")), [
    [0, 5],
    [6.2, 7],
  ]);
  assert.deepEqual(timesOf(at(0, 6.5, 7, "Good bye."), at(1, 7, 7, "Thanks."), at(2, 7, 7, "You.")), [
    [6.5, 7],
    [6.5, 7],
    [6.5, 7],
  ]);
});

test("captions.reading-time, captions.line-width: a cue that is followed by silence stays until it can be read, and the speaker's name has room on its line", () => {
  fc.assert(
    fc.property(spokenWords, fc.boolean(), (words, fromSegments) => {
      const cues = fromSegments ? buildCues(asSegments(words), [], DURATION) : buildCues([], words, DURATION);
      const shown = toSrt(cues).split("\n");
      for (const line of shown.filter((text) => /^S\d: /u.test(text)))
        assert(line.length <= LINE_COLUMNS || !line.slice(4).includes(" "), line);
      for (const [index, { start, end, lines }] of cues.entries()) {
        const isFree = end < (cues[index + 1]?.start ?? DURATION) && end < DURATION;
        const perSecond = lines.join(" ").length / (end - start);
        assert(!isFree || perSecond < 20.001, `${perSecond} characters a second`);
      }
    }),
    { numRuns: 500 },
  );
});

test("captions.reading-time: a cue that starts together with another one is lengthened up to the first behind both, and not over it", () => {
  const said = (text: string, start: number, end: number, channel: number): Word => ({
    text,
    start,
    end,
    speaker: null,
    confidence: null,
    channel,
  });
  const words = [
    said("Good morning everybody, and welcome.", 0, 0.5, 0),
    said("Hello to you too, and many thanks.", 0, 0.5, 1),
    said("And now the news.", 1.6, 4, 0),
  ];
  assert.deepEqual(
    buildCues([], words, DURATION).map(({ start, end }) => [start, end]),
    [
      [0, 1.6],
      [0, 1.6],
      [1.6, 4],
    ],
  );
});

test("captions.line-width: FLD-08: a word wider than a line is cut, and no cue has more than two lines, however long its words are", () => {
  const long = fc.stringMatching(/^[a-zé]{12,100}$/);
  fc.assert(
    fc.property(fc.array(long, { maxLength: 12 }), fc.boolean(), (texts, fromSegments) => {
      const words = texts.map((text, index): Word => {
        const start = index / 4;
        return { text, start, end: start + 0.25, speaker: null, confidence: null, channel: null };
      });
      const cues = fromSegments ? buildCues(asSegments(words), [], DURATION) : buildCues([], words, DURATION);
      for (const { lines } of cues)
        assert(lines.length <= 2 && lines.every((line) => line.length <= LINE_COLUMNS), lines.join(" | "));
      assert.equal(
        cues.flatMap(({ lines }) => lines.join("").replaceAll(" ", "")).join(""),
        words.flatMap(({ text }) => (fromSegments ? [text, text] : [text])).join(""),
      );
    }),
    { numRuns: 200 },
  );
});

test("captions.speaker-change: a speaker change always begins a new cue", () => {
  // Words without a duration at one moment are spoken at once, so that each voice has one cue for them.
  const lasting = spokenWords.map((words) => words.filter(({ start, end }) => start < end));
  fc.assert(
    fc.property(lasting, (words) => {
      const changes = words.filter((word, index) => index > 0 && word.speaker !== words[index - 1]?.speaker).length;
      assert(buildCues([], words, DURATION).length >= (words.length === 0 ? 0 : changes + 1));
    }),
    { numRuns: 200 },
  );
});

test("captions.speaker-change: voices that talk at once have a cue each, not one for every word; an answer ends what it answers", () => {
  const say = (text: string, start: number, channel: number, speaker: string | null = null): Word[] =>
    text.split(" ").map((word, index) => {
      const at = start + index / 2;
      return { text: word, start: at, end: at + 0.5, speaker, confidence: null, channel };
    });
  const textsOf = (...turns: Word[][]) =>
    buildCues(
      [],
      turns.flat().toSorted((one, other) => one.start - other.start),
      DURATION,
    ).map(({ lines }) => lines.join(" "));
  assert.deepEqual(textsOf(say("left one two", 0, 0), say("right three", 0.2, 1)), ["left one two", "right three"]);
  assert.deepEqual(textsOf(say("so I said", 0, 0, "S1"), say("no wait", 0.8, 0, "S2")), ["so I said", "no wait"]);
  assert.deepEqual(textsOf(say("shall we", 0, 0, "S1"), say("yes", 0.98, 0, "S2"), say("good", 1.48, 0, "S1")), [
    "shall we",
    "yes",
    "good",
  ]);
});

test("captions.cue-length: a cue ends at a pause of 1.2 s, after 7 s, and at a sentence end behind a full line", () => {
  const spoken = (
    texts: readonly string[],
    stepSeconds: number,
    gaps: Readonly<Record<number, number>> = {},
  ): Word[] => {
    let at = 0;
    return texts.map((text, index) => {
      at += gaps[index] ?? 0;
      const start = at;
      at += stepSeconds;
      return { text, start, end: at, speaker: null, confidence: null, channel: 0 };
    });
  };
  const cuesOf = (words: readonly Word[]) => buildCues([], words, DURATION).map(({ lines }) => lines.join(" "));
  assert.deepEqual(cuesOf(spoken(["one", "two", "three"], 0.4, { 2: 1.1 })), ["one two three"]);
  assert.deepEqual(cuesOf(spoken(["one", "two", "three"], 0.4, { 2: 1.3 })), ["one two", "three"]);
  const slow = buildCues(
    [],
    spoken(
      Array.from({ length: 20 }, (_, at) => `w${at}`),
      1,
    ),
    DURATION,
  );
  assert.ok(slow.length >= 3 && slow.every(({ start, end }) => end - start <= 7), JSON.stringify(slow));
  const line = "a sentence that fills a line of a caption.".split(" ");
  assert.deepEqual(cuesOf(spoken([...line, "Next", "one"], 0.2)), [line.join(" "), "Next one"]);
});

test("captions.silence: captions of silence are empty but valid", () => {
  assert.equal(toSrt(buildCues([], [], 3)), "");
  assert.equal(toVtt(buildCues([], [], 3)), "WEBVTT\n");
});

test("captions.clock: hours, rounding to the millisecond, both separators", () => {
  assert.equal(captionTimestamp(3661.0005, ","), "01:01:01,001");
  assert.equal(captionTimestamp(59.9996, "."), "00:01:00.000");
});

test("captions.text-turns: text has one line a turn where speakers are known, else the content as it is", () => {
  const [one, two, three] = asSegments([
    { text: "a", start: 0, end: 1, speaker: "S1", confidence: null, channel: 0 },
    { text: "b", start: 1, end: 2, speaker: "S1", confidence: null, channel: 0 },
    { text: "c", start: 2, end: 3, speaker: "S2", confidence: null, channel: 0 },
  ]);
  assert(one && two && three);
  assert.equal(toPlainText("ignored", [one, two, three]), "S1: a a b b\nS2: c c");
  assert.equal(toPlainText("as it is", [{ ...one, speaker: null }]), "as it is");
});

test("captions.source: words that are not all of the text make no captions: the segments do, and nothing is lost", () => {
  const segments: readonly Segment[] = [
    { id: 0, start: 0, end: 4, text: "Good morning, everybody here.", speaker: "S1", channel: null, confidence: null },
  ];
  const words: readonly Word[] = [
    { text: "Good", start: 0, end: 0.5, speaker: "S1", channel: null, confidence: null },
    { text: "morning,", start: 0.5, end: 1, speaker: "S1", channel: null, confidence: null },
  ];
  const cues = buildCues(segments, words, 10);
  assert.equal(cues.flatMap(({ lines }) => lines).join(" "), "Good morning, everybody here.");
});

test("captions.no-added-spaces: Chinese words are written without spaces between them, in lines that fit, and Latin ones with", () => {
  const word = (text: string, index: number): Word => ({
    text,
    start: index,
    end: index + 1,
    speaker: null,
    channel: null,
    confidence: null,
  });
  const words = ["今天", "我们", "用", "Patchbay", "2.0", "录音。"].map(word);
  const linesOf = (cues: ReturnType<typeof buildCues>) => cues.flatMap(({ lines }) => lines);
  assert.deepEqual(linesOf(buildCues([], words, 10)), ["今天我们用 Patchbay 2.0 录音。"]);
  const text = "今天我们用录音，".repeat(12);
  const segment = { id: 0, start: 0, end: 30, text, speaker: null, channel: null, confidence: null };
  const lines = linesOf(buildCues([segment], [], 30));
  assert.ok(lines.length > 1 && lines.every((line) => line.length <= LINE_COLUMNS));
  assert.equal(lines.join(""), text);
});
