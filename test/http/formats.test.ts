// Every accepted format (mp3, mp4, mpeg, mpga, m4a, wav, webm) through every carrier of the real endpoint, its length compared with an
// independent tool's.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { before, test } from "node:test";
import { formatsPage } from "./formats-page.ts";
import { CARRIERS, type FormatRow, type Outcome, runFormats, toleranceSeconds, TRUTH } from "./formats-table.ts";

/** At least one recording for each accepted format, by its file ending. */
const ENDINGS = ["mp3", "mp4", "mpeg", "mpga", "m4a", "wav", "webm"];
/** Recordings that defeat a reader of headers. */
const HARD = {
  "speech-vbr.mp3": "variable bit rate without a header",
  "speech-truncated.mp3": "cut off",
  "speech-truncated.m4a": "cut off in its packets",
  "speech-live.webm": "no duration",
  "speech-piped.webm": "no duration",
  "speech-moov-at-end.m4a": "the index at the end",
  "video-moov-at-end.mp4": "the index at the end, existing pictures",
  "speech-fragmented.mp4": "in fragments",
  "speech-piped.wav": "sizes never filled in",
  "speech.mpeg": "a program stream",
  "video.mpeg": "a program stream with pictures",
} as const;

let rows: ReadonlyMap<string, FormatRow>;
before(async () => {
  rows = new Map((await runFormats()).map((row) => [row.fileName, row]));
});

test("measuring.content-decides: each of the seven formats and each hard case has a recording with a known length", () => {
  const names = Object.keys(TRUTH);
  assert.deepEqual(
    ENDINGS.filter((ending) => !names.some((name) => name.endsWith(`.${ending}`))),
    [],
  );
  assert.deepEqual(
    Object.keys(HARD).filter((name) => !names.includes(name)),
    [],
  );
});

for (const [fileName, truth] of Object.entries(TRUTH)) {
  const hard = fileName in HARD ? ` (${HARD[fileName as keyof typeof HARD]})` : "";
  test(`measuring.true-length, request-body.sources: ${fileName}${hard}: served through every carrier, ${truth.seconds} s each time`, () => {
    const row = rows.get(fileName);
    assert.ok(row !== undefined);
    for (const carrier of CARRIERS) {
      const outcome: Outcome = row.outcomes[carrier];
      const { measuredSeconds, sentType } = outcome;
      assert.equal(outcome.status, 200, carrier);
      assert.ok(measuredSeconds !== null);
      const difference = Math.abs(measuredSeconds - truth.seconds);
      assert.ok(difference <= toleranceSeconds(truth), `${carrier}: ${measuredSeconds} s, not ${truth.seconds} s`);
      assert.match(sentType ?? "", /^(audio|video)\//, `${carrier}: the provider received ${sentType}`);
    }
    const seen = CARRIERS.map((carrier) => JSON.stringify(row.outcomes[carrier]));
    assert.equal(new Set(seen).size, 1, "the carriers differ");
  });
}

test("measuring.true-length: docs/formats.md contains what was measured: else run node scripts/write-format-table.ts", () => {
  const page = readFileSync(new URL("../../docs/formats.md", import.meta.url), "utf8");
  assert.equal(formatsPage([...rows.values()]), page);
});
