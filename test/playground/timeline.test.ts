// What is heard when, and how what was chosen becomes a query: the pure pieces of the playground.
import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { entriesOf, fieldsOf, type OptionField, queryOf, taskOf } from "../../src/playground/options.ts";
import { clock, type Piece, pieceAt, segmentsOf, turnsOf } from "../../src/playground/timeline.ts";

const piece = (start: number, end: number, more: Partial<Piece> = {}): Piece => ({
  text: `w${start}`,
  start,
  end,
  confidence: null,
  speaker: null,
  channel: null,
  ...more,
});

test("playground.timeline: at any time the word that is heard is found, the latest to begin of several, none in a pause", () => {
  const pieces = [piece(0, 1), piece(1, 1.5), piece(2, 4), piece(2.5, 3)];
  for (const [seconds, index] of [
    [0, 0],
    [0.999, 0],
    [1, 1],
    [1.5, -1],
    [1.99, -1],
    [2.4, 2],
    [2.6, 3],
    [9, -1],
  ] as const)
    assert.equal(pieceAt(pieces, seconds), index, `at ${seconds} s`);
  assert.equal(pieceAt([], 1), -1);
});

test("playground.timeline: the binary search finds the word that a linear one finds", () => {
  fc.assert(
    fc.property(fc.array(fc.nat(100)), fc.nat(110), (starts, seconds) => {
      const pieces = starts.toSorted((one, other) => one - other).map((start) => piece(start, start + 2));
      const last = pieces.findLastIndex(({ start }) => start <= seconds);
      assert.equal(pieceAt(pieces, seconds), last !== -1 && seconds < (pieces[last]?.end ?? 0) ? last : -1);
    }),
  );
});

test("playground.timeline: a turn ends with its speaker, channel or a pause of two seconds; no word is lost", () => {
  const pieces = [
    piece(0, 1, { speaker: "S1" }),
    piece(1, 2, { speaker: "S1" }),
    piece(2, 3, { speaker: "S2" }),
    piece(6, 7, { speaker: "S2" }),
    piece(7, 8, { speaker: "S2", channel: 1 }),
  ];
  const turns = turnsOf(pieces);
  assert.deepEqual(
    turns.map(({ from, pieces }) => [from, pieces.length]),
    [
      [0, 2],
      [2, 1],
      [3, 1],
      [4, 1],
    ],
  );
  assert.deepEqual(
    turns.flatMap((turn) => turn.pieces),
    pieces,
  );
});

test("playground.timeline: a transcript without times is one segment as long as the audio", () => {
  const [only, ...others] = segmentsOf({ words: [], segments: [], content: "All of it.", duration_seconds: 12 });
  assert.deepEqual([only?.start, only?.end, only?.text, others], [0, 12, "All of it.", []]);
});

test("playground.timeline: a time has minutes, seconds and tenths", () => {
  assert.deepEqual([0, 14.402, 59.96, 61.25, 3600].map(clock), ["0:00.0", "0:14.4", "0:59.9", "1:01.2", "60:00.0"]);
});

const FIELDS: readonly OptionField[] = [
  { name: "language", kind: "text", preset: "" },
  { name: "diarization", kind: "boolean", preset: "" },
  { name: "timestamps", kind: "text", preset: "both" },
  { name: "keyterms", kind: "list", preset: "" },
  { name: "speaker_count_hint", kind: "number", preset: "" },
  { name: "to_language", kind: "text", preset: "" },
];

test("playground.links: the query of any choice restores it, and contains no default", () => {
  const text = fc.string({ minLength: 1, unit: "grapheme" }).filter((value) => value.trim() !== "");
  const chosen = fc.record({
    language: fc.option(text),
    diarization: fc.boolean(),
    timestamps: fc.constantFrom("", "both", "word"),
    keyterms: fc.array(text, { maxLength: 4 }),
    speaker_count_hint: fc.option(fc.integer({ min: 1, max: 32 })),
  });
  fc.assert(
    fc.property(chosen, (choice) => {
      const values: Readonly<Record<string, readonly string[]>> = {
        language: choice.language === null ? [] : [choice.language],
        diarization: choice.diarization ? ["true"] : [],
        timestamps: choice.timestamps === "" ? [] : [choice.timestamps],
        keyterms: choice.keyterms,
        speaker_count_hint: choice.speaker_count_hint === null ? [] : [String(choice.speaker_count_hint)],
      };
      const entries = FIELDS.flatMap(({ name }) => (values[name] ?? []).map((value) => [name, value] as const));
      assert.deepEqual(entriesOf(`?${queryOf(entries, FIELDS)}`, FIELDS), entries);
    }),
  );
  assert.equal(queryOf([["timestamps", "both"]], FIELDS), "");
  assert.deepEqual(entriesOf("?utm_source=x&key=svc_live_1", FIELDS), [["timestamps", "both"]]);
});

test("playground.code: fields have the types that JSON has for them, and a language to translate into makes it a translation", () => {
  const entries = [
    ["diarization", "true"],
    ["timestamps", "word"],
    ["keyterms", "a"],
    ["keyterms", "b"],
    ["speaker_count_hint", "2"],
  ] as const;
  assert.deepEqual(fieldsOf(entries, FIELDS), {
    diarization: true,
    timestamps: "word",
    keyterms: ["a", "b"],
    speaker_count_hint: 2,
  });
  assert.equal(taskOf(entries), "transcription");
  assert.equal(taskOf([...entries, ["to_language", "de"]]), "translation");
});
