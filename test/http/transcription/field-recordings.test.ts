// Recordings of the field through a whole gateway: how long they are, what the caller is warned of, and what the provider receives.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { ascii, ebmlHeader, element, info, join, SEGMENT, TRACKS } from "../../audio/build-audio.ts";
import { envelopeOf, postForm } from "../../harness/client.ts";
import { startGateway, type TestGateway } from "../../harness/gateway.ts";

let gateway: TestGateway;
before(async () => {
  gateway = await startGateway();
});
after(() => gateway.close());

const ROWS = [
  ["FLD-01", "recorder-pcm.webm", "audio/webm", 2.03, []],
  ["FLD-01", "recorder-h264.webm", "audio/webm", 2.03, []],
  ["FLD-02", "g722.wav", "audio/wav", 2.03, []],
  ["FLD-03", "zeros-behind-data.wav", "audio/wav", 2.03, ["TRAILING_DATA_IGNORED"]],
  ["FLD-04", "two-waves-joined.wav", "audio/wav", 2.03, ["TRAILING_DATA_IGNORED"]],
  ["FLD-04", "edit-list.m4a", "audio/mp4", 0.844, ["EDIT_LIST_APPLIED"]],
] as const;

for (const [id, name, mediaType, seconds, warnings] of ROWS)
  test(`measuring.true-length, measuring.provider-naming: ${id}: ${name} is ${seconds} s for the caller and ${mediaType} for the provider, warnings: ${warnings.join() || "none"}`, async () => {
    gateway.sandbox.clearCalls();
    const file = new Uint8Array(readFileSync(new URL(`../../cases/audio/${name}`, import.meta.url)));
    const envelope = envelopeOf(await postForm(gateway.origin, { file, fileName: name }));
    assert.ok(Math.abs(envelope.duration_seconds - seconds) < 0.01, `${envelope.duration_seconds} s`);
    assert.equal(envelope.usage.audio_seconds, envelope.duration_seconds);
    assert.deepEqual(
      envelope.warnings.map(({ code }) => code),
      warnings,
    );
    assert.equal(gateway.sandbox.calls[0]?.headers["content-type"], mediaType);
  });

test("measuring.browser-matroska: FLD-01: Matroska with subtitles is 415, and the message says what to record instead", async () => {
  const track = (number: number, type: number, codec: string) =>
    element([0xae], element([0xd7], [number]), element([0x83], [type]), element([0x86], ascii(codec)));
  const tracks = element(
    TRACKS,
    track(1, 2, "A_OPUS"),
    ...[2, 3, 4].map((number) => track(number, 0x11, "S_TEXT/UTF8")),
  );
  const file = join(ebmlHeader("matroska"), element(SEGMENT, info(), tracks));
  const answer = await postForm(gateway.origin, { file, fileName: "film.mkv" });
  assert.deepEqual([answer.status, answer.code], [415, "UNSUPPORTED_MEDIA_TYPE"]);
  assert.match(answer.text, /Matroska.*audio\/webm;codecs=opus/);
});
