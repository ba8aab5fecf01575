// What a comparison says of two transcripts: their words as written, by how much they differ, and the files of it.
import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import type { RequestRecordView } from "../../src/contract/requests.ts";
import { comparisonName, comparisonText, type HeardSide } from "../../src/playground/compare-export.ts";
import { FACTS, heard, warningsOf } from "../../src/playground/compare-side.ts";
import { simulatedMark, summaryOf } from "../../src/playground/compare-words.ts";
import { compareWords, differencesIn, passagesIn, type Row } from "../../src/playground/comparison.ts";
import { SIMULATED, type Transcript } from "../../src/playground/exports.ts";
import { spokenWords } from "../../src/playground/spoken-words.ts";

const TRANSCRIPT: Transcript = {
  request_id: "req_1",
  id: "tr_1",
  object: "transcription",
  created_at: "2026-01-01T00:00:00.000Z",
  status: "completed",
  content: "",
  language: "en",
  language_confidence: null,
  duration_seconds: 6,
  segments: [],
  words: [],
  warnings: [],
  usage: { audio_seconds: 6, billable_audio_seconds: 6, total_tokens: 0 },
  svc_requested_purpose: null,
  svc_applied_purpose: null,
  svc_purpose_source: "none",
};

/** A word each half second. */
function said(content: string, more: Partial<Transcript> = {}): Transcript {
  const words = content.split(" ").map((text, index) => ({
    text,
    start: index / 2,
    end: index / 2 + 0.4,
    confidence: 0.5 + index / 10,
    speaker: index < 2 ? "S1" : "S2",
    channel: null,
  }));
  return { ...TRANSCRIPT, content, words, ...more };
}

const compare = (one: Transcript, other: Transcript) => compareWords(spokenWords(one).words, spokenWords(other).words);
const kinds = (rows: readonly Row[]) => rows.map(({ kind }) => kind);
const textsOf = (transcript: Transcript) => spokenWords(transcript).words.map(({ text }) => text);

test("playground.differences: each side is kept whole and as it was written; compared from the other side the same differs", () => {
  const spoken = fc.array(fc.constantFrom("Yes,", "yes", "NO", "no.", "per", "cent"), { minLength: 1, maxLength: 30 });
  fc.assert(
    fc.property(spoken, spoken, (left, right) => {
      const [A, B] = [said(left.join(" ")), said(right.join(" "))];
      const forth = compare(A, B);
      assert.deepEqual(
        forth.rows.flatMap(({ words }) => words.A?.text ?? []),
        left,
      );
      assert.deepEqual(
        forth.rows.flatMap(({ words }) => words.B?.text ?? []),
        right,
      );
      const { counts, rate } = compare(B, A);
      assert.deepEqual({ ...counts, A: counts.B, B: counts.A }, forth.counts);
      assert.ok(rate === forth.rate && rate <= 1);
      const passages = passagesIn(forth.rows).flatMap(({ from, to }) => forth.rows.slice(from, to));
      assert.deepEqual(passages, forth.rows);
    }),
  );
});

test("playground.differences: case, punctuation around a word, forms of an apostrophe and of a letter are not compared; signs that are read aloud are", () => {
  const one = said("«Don’t» STOP, Cafe\u0301 (really) 5 co-op … $3");
  const other = said("don't stop caf\u00e9 really? 5% co op … 3");
  const { rows, counts } = compare(one, other);
  assert.equal(
    rows.flatMap(({ words }) => words.A?.text ?? []).join(" "),
    one.content,
    "what is shown is what was written",
  );
  assert.deepEqual(counts, { same: 4, other: 3, A: 0, B: 1 });
  assert.equal(compare(one, one).rate, 0);
});

test("playground.differences: separate punctuation belongs to a word; without visible letters there is no difference", () => {
  const one = said("— Vous venez ?  Oui ! \u05e9\u05dc\u05d5\u05dd\u200f");
  const other = said("vous venez oui \u05e9\u05dc\u05d5\u05dd");
  assert.deepEqual(textsOf(one), ["— Vous", "venez ?", "Oui !", "\u05e9\u05dc\u05d5\u05dd\u200f"]);
  assert.deepEqual(compare(one, other).counts, { same: 4, other: 0, A: 0, B: 0 });
  assert.deepEqual(textsOf({ ...one, words: [] }), textsOf(one), "the same where the text is split");
  assert.deepEqual(textsOf(said("… —")), ["… —"]);
});

test("playground.words: a word is played where its own side has a time, else the other side, else where the word before began", () => {
  const untimed = { ...TRANSCRIPT, content: "one two extra" };
  const { rows } = compare(untimed, said("one two"));
  assert.deepEqual(
    rows.map(({ start }) => start),
    [0, 0.5, 0.5],
  );
  assert.equal(spokenWords(untimed).times, "none");
});

test("playground.differences: without words a segment's text is split, and each of its words leads to its beginning", () => {
  const segment = {
    id: 0,
    start: 2,
    end: 4,
    text: " Well-known  words. ",
    speaker: null,
    channel: null,
    confidence: null,
  };
  const { words, times } = spokenWords({ ...TRANSCRIPT, segments: [segment] });
  assert.equal(times, "segments");
  assert.deepEqual(words, [
    { text: "Well-known", key: "well-known", start: 2 },
    { text: "words.", key: "words", start: 2 },
  ]);
});

test("playground.differences: without spaces the browser separates words, no character is lost, and an unknown language is no fault", () => {
  const content = "「今日は」良い天気です。 Bob 说";
  for (const language of ["ja", "klingon language", null]) {
    const texts = textsOf({ ...TRANSCRIPT, content, language });
    assert.equal(texts.join(""), content.replaceAll(" ", ""));
    assert.ok(texts.length > 4 && texts.every((text) => /[\p{L}\p{N}]/u.test(text)), texts.join("|"));
  }
});

test("playground.differences: something compared with nothing, and nothing with nothing", () => {
  const silence = { ...TRANSCRIPT, content: "" };
  assert.deepEqual(compare(silence, silence).rate, 0);
  const { rows, rate } = compare(silence, said("one two"));
  assert.deepEqual([kinds(rows), rate], [["B", "B"], 1]);
  assert.deepEqual(differencesIn(rows), [{ from: 0, to: 2 }]);
});

test("playground.differences: a passage ends with a sentence where both sides agree, and never grows without end", () => {
  const sentence = "one two three four five six seven eight nine ten eleven twelve. And so on";
  const { rows } = compare(said(sentence), said(sentence));
  assert.deepEqual(passagesIn(rows), [
    { from: 0, to: 12 },
    { from: 12, to: 15 },
  ]);
  const { rows: missing } = compare(said("x"), said(`${"y ".repeat(500)}y`));
  assert.ok(passagesIn(missing).every(({ from, to }) => to - from <= 60));
});

test("playground.differences: the summary names its unit, and marks figures that are upper bounds", () => {
  const same = compare(said("one two"), said("one two"));
  assert.equal(summaryOf(same), "A has 2 words, B 2; the same in both: 2. No word differs.");
  const differing = compare(said("one two"), said("one too many"));
  assert.equal(
    summaryOf(differing),
    "A has 2 words, B 3; the same in both: 1. Differing words: 2 (1 different on each side, 0 only in A, 1 only in B), 66.7 % of the 3 words of the longer side.",
  );
  assert.match(
    summaryOf({ ...differing, isLeast: false }),
    /Too many differences for an exact alignment\. Differing words, at most: 2/u,
  );
});

const attempt = (billing: string, charge: string, estimate: string | null, outcome = "succeeded") => ({
  position: 1,
  connection: "house",
  provider: "openai",
  model: "whisper-1",
  outcome,
  created_at: "2026-01-01T00:00:00.000Z",
  finished_at: "2026-01-01T00:00:01.500Z",
  billing_class: billing,
  charge_usd: charge,
  estimate_usd: estimate,
});
const record = (attempts: readonly object[], charge = "0.00", replayed = false): RequestRecordView =>
  ({
    duration_seconds: 2,
    attempts,
    usage: { charge_usd: charge },
    idempotency: { key: "first", replayed },
  }) as unknown as RequestRecordView;

test("playground.compare-costs: metered, provider-billed and simulated amounts are never one sum, and are exact to the last digit", () => {
  const cost = (value: RequestRecordView | "reading" | "unreadable") =>
    FACTS["Cost"]?.({ ...heard(said("one")), record: value });
  const metered = attempt("metered", "0.000000001", "0.000000001");
  const billed = attempt("provider_billed", "0.00", "0.10");
  assert.equal(cost(record([metered], "0.000000001")), "$0.000000001 metered");
  assert.equal(
    cost(
      record([billed, { ...billed, estimate_usd: null }, metered, attempt("simulated", "0.00", "0.00")], "0.000000001"),
    ),
    "$0.000000001 metered; provider-billed, list price $0.10 + unknown; $0, simulated",
  );
  assert.equal(cost(record([])), "$0: no call");
  assert.match(cost(record([], "0.00", true)) ?? "", /paid by the earlier request/u);
  assert.match(cost("reading") ?? "", /not loaded yet/u);
  assert.match(cost("unreadable") ?? "", /record not available/u);
});

test("playground.compare: target, duration, confidence and speakers of a side, as far as they are known", () => {
  const side = {
    ...heard(said("one two three")),
    record: record([attempt("metered", "0.00", null, "failed:timeout"), attempt("metered", "0.00", null)]),
  };
  const facts = Object.fromEntries(Object.entries(FACTS).map(([name, tell]) => [name, tell(side)]));
  assert.deepEqual(
    [facts["Target"], facts["Time"], facts["Mean word confidence"], facts["Speakers"], facts["Words"], facts["Times"]],
    ["1. house: openai whisper-1", "2000 ms, of it 3000 ms in 2 calls", "60.0 %", "2", "3", "words"],
  );
  const bare = heard({ ...TRANSCRIPT, content: "one two", language: null });
  assert.deepEqual(
    Object.values(FACTS).map((tell) => tell(bare)),
    [
      "none",
      "record not loaded yet",
      "2",
      "0:06.0",
      "record not loaded yet",
      "record not loaded yet",
      "none",
      "not separated",
      "not reported",
      "missing",
    ],
  );
});

const dropped = { code: "PREFERENCE_DROPPED" as const, message: "prompt was dropped", param: "prompt", details: null };
const simulated = { code: "SIMULATED_PROVIDER" as const, message: "simulated", param: null, details: null };

test("playground.compare: a warning of both sides is shown once, one of a single side with its name", () => {
  const other = { ...dropped, message: "language was dropped" };
  assert.deepEqual(
    warningsOf(said("a", { warnings: [dropped, simulated] }), said("a", { warnings: [other, dropped] })).map(
      ({ only, message }) => [only, message],
    ),
    [
      [null, "prompt was dropped"],
      ["B", "language was dropped"],
    ],
  );
});

test("playground.exports: a comparison's file says in name and first line which side was simulated; otherwise it mentions no simulation", () => {
  const side = (label: "A" | "B", transcript: Transcript): HeardSide => ({
    label,
    purpose: label === "A" ? null : "second",
    now: heard(transcript),
  });
  const one = side("A", said("one two <b> four"));
  const recognised = side("B", said("one too <b> four five"));
  const unreal = side("B", said("one too <b> four five", { warnings: [simulated] }));
  const options = [["diarization", "true"]] as const;
  for (const [B, mark] of [
    [recognised, null],
    [unreal, `B: ${SIMULATED}`],
  ] as const) {
    const sides = [one, B] as const;
    const compared = {
      audioName: "call.one.mp3",
      options,
      sides,
      comparison: compare(one.now.transcript, B.now.transcript),
    };
    assert.equal(simulatedMark(sides), mark);
    for (const format of ["txt", "json"] as const) {
      const text = comparisonText(compared, format);
      assert.equal(
        comparisonName(compared, format),
        `call.one-comparison${mark === null ? "" : "-simulated"}.${format}`,
      );
      assert.equal(text.includes(SIMULATED), mark !== null);
      if (mark !== null) assert.ok(text.split("\n")[0]?.includes(mark), format);
    }
    const json = JSON.parse(comparisonText(compared, "json")) as {
      readonly differences: unknown;
      readonly words: unknown;
    };
    assert.deepEqual(json.differences, [
      { at_seconds: 0.5, A: "two", B: "too" },
      { at_seconds: 2, A: "", B: "five" },
    ]);
    assert.deepEqual(json.words, {
      same: 3,
      other: 1,
      only_in_a: 0,
      only_in_b: 1,
      of_the_longer_side: 5,
      differing_share_of_the_longer_side: 0.4,
      are_upper_bounds: false,
    });
    const text = comparisonText(compared, "txt");
    assert.match(
      text,
      /\n0:00\.5 A: two \| B: too\n0:02\.0 A: – \| B: five\n\nA:\none two <b> four\n\nB:\none too <b> four five\n$/u,
    );
    assert.match(text, /Options: diarization=true\nA: no purpose, request req_1\nB: purpose second, request req_1\n/u);
  }
});
