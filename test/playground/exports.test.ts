// Files that the playground makes of an answer, to the letter: with speakers and without times, recognised and simulated.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { test } from "node:test";
import {
  cleanName,
  exportName,
  exportText,
  renamed,
  SIMULATED,
  type Transcript,
  transcriptIn,
} from "../../src/playground/exports.ts";

const { WebVTTParser } = createRequire(import.meta.url)("webvtt-parser") as {
  WebVTTParser: new () => {
    readonly parse: (
      text: string,
      kind: string,
    ) => { readonly errors: readonly unknown[]; readonly cues: readonly unknown[] };
  };
};

const word = (text: string, start: number, speaker: string) => ({
  text,
  start,
  end: start + 0.5,
  confidence: 0.9,
  speaker,
  channel: null,
});

const TRANSCRIPT: Transcript = {
  request_id: "req_1",
  id: "tr_1",
  object: "transcription",
  created_at: "2026-01-01T00:00:00.000Z",
  status: "completed",
  content: "Good morning. Hello & welcome.",
  language: "en",
  language_confidence: null,
  duration_seconds: 6,
  segments: [],
  words: [
    word("Good", 0, "S1"),
    word("morning.", 0.5, "S1"),
    word("Hello", 3, "S2"),
    word("&", 3.5, "S2"),
    word("welcome.", 4, "S2"),
  ],
  warnings: [],
  usage: { audio_seconds: 6, billable_audio_seconds: 6, total_tokens: 0 },
  svc_requested_purpose: null,
  svc_applied_purpose: null,
  svc_purpose_source: "none",
};
const simulated: Transcript = {
  ...TRANSCRIPT,
  warnings: [{ code: "SIMULATED_PROVIDER", message: "simulated", param: null, details: null }],
};
const named = renamed(TRANSCRIPT, new Map([["S1", "Ada"]]));

test("playground.exports: text, SubRip and WebVTT have the names given to speakers", () => {
  assert.equal(exportText(named, "txt"), "Ada: Good morning.\nS2: Hello & welcome.\n");
  assert.equal(
    exportText(named, "srt"),
    "1\n00:00:00,000 --> 00:00:01,000\nAda: Good morning.\n\n2\n00:00:03,000 --> 00:00:04,500\nS2: Hello & welcome.\n",
  );
  assert.equal(
    exportText(named, "vtt"),
    "WEBVTT\n\n00:00:00.000 --> 00:00:01.000\n<v Ada>Good morning.\n\n00:00:03.000 --> 00:00:04.500\n<v S2>Hello &amp; welcome.\n",
  );
});

test("playground.exports: without any times the captions still contain the text", () => {
  const plain = { ...TRANSCRIPT, words: [] };
  assert.equal(exportText(plain, "srt"), "1\n00:00:00,000 --> 00:00:06,000\nGood morning. Hello & welcome.\n");
  assert.equal(exportText(plain, "txt"), "Good morning. Hello & welcome.\n");
});

test("playground.exports: a simulated file says so in its name and its first line, and stays valid in its format", () => {
  for (const format of ["txt", "srt", "vtt", "json"] as const) {
    assert.equal(exportName(simulated, format, "call.one.mp3"), `call.one-simulated.${format}`);
    assert.equal(exportName(TRANSCRIPT, format, "call.one.mp3"), `call.one.${format}`);
    const text = exportText(simulated, format);
    const shown = format === "srt" ? (text.split("\n")[2] ?? "") : (text.split("\n")[0] ?? "");
    assert.ok(shown.includes(SIMULATED), format);
    assert.ok(!exportText(TRANSCRIPT, format).includes(SIMULATED), format);
  }
  const parsed = new WebVTTParser().parse(exportText(simulated, "vtt"), "subtitles");
  assert.deepEqual([parsed.errors, parsed.cues.length], [[], 2]);
});

test("playground.exports: a saved JSON opens as it was, simulated or not; other JSON does not", () => {
  for (const transcript of [TRANSCRIPT, simulated, named])
    assert.deepEqual(transcriptIn(exportText(transcript, "json")), transcript);
  for (const text of [
    "",
    "{",
    "[]",
    "null",
    "1",
    '{"content":1}',
    '{"content":"a","words":[]}',
    JSON.stringify({ ...TRANSCRIPT, words: [null] }),
    JSON.stringify({ ...TRANSCRIPT, words: [{}] }),
    JSON.stringify({ ...TRANSCRIPT, warnings: [null] }),
    JSON.stringify({ ...TRANSCRIPT, warnings: [{}] }),
  ])
    assert.equal(transcriptIn(text), null, text);
});

test("playground.exports: a speaker's name adds no markup to captions", () => {
  assert.equal(cleanName(" Ada <b> --> & \n Bob "), "Ada b -- Bob");
});
