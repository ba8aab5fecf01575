// How much live audio came, chunk by chunk, compared with what the whole file measures.
import assert from "node:assert/strict";
import { test } from "node:test";
import { createSampleClock, createWebmClock } from "../../src/audio/live-clock.ts";
import { fixture } from "./build-audio.ts";

const SPEECH_SECONDS = 7;

test("measuring.live-clock: samples are counted: two bytes at the declared rate", () => {
  const clock = createSampleClock(16_000);
  assert.equal(clock.hear(Buffer.alloc(3_200)), 0.1);
  assert.equal(clock.hear(Buffer.alloc(16_001)), 19_201 / 32_000);
});

for (const name of ["speech-live.webm", "speech-piped.webm", "speech-opus.webm"]) {
  test(`measuring.live-clock: ${name} is as long in chunks of any size as in one, and never shrinks`, () => {
    const bytes = fixture(name);
    const whole = createWebmClock().hear(bytes);
    assert.ok(whole !== null && Math.abs(whole - SPEECH_SECONDS) < 0.5, `${whole} s`);
    for (const size of [1, 7, 1_000, 65_536]) {
      const clock = createWebmClock();
      let seconds = 0;
      for (let at = 0; at < bytes.byteLength; at += size) {
        const heard = clock.hear(bytes.subarray(at, at + size));
        assert.ok(heard !== null && heard >= seconds);
        seconds = heard;
      }
      assert.equal(seconds, whole, `in chunks of ${size}`);
    }
  });
}

test("measuring.live-clock: what is no WebM is recognised at its first byte, and stays so", () => {
  const clock = createWebmClock();
  assert.equal(clock.hear(Buffer.from("RIFF")), null);
  assert.equal(clock.hear(Buffer.from(fixture("speech-live.webm"))), null);
});
