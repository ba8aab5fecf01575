// Where a live session's audio is committed, over levels of sound.
import assert from "node:assert/strict";
import { test } from "node:test";
import { createPauseDetector } from "../../src/providers/elevenlabs/pause-detector.ts";

const RATE = 16_000;
const FRAME_SECONDS = 0.1;

/** The seconds after which commits are due. */
function commitsOf(parts: readonly (readonly [level: number, seconds: number])[]): readonly number[] {
  const isDue = createPauseDetector(RATE);
  const due: number[] = [];
  let frames = 0;
  for (const [level, seconds] of parts) {
    for (let sent = 0; sent < Math.round(seconds / FRAME_SECONDS); sent += 1) {
      frames += 1;
      const frame = new Uint8Array(Int16Array.from({ length: RATE * FRAME_SECONDS }, () => level).buffer);
      if (isDue(frame)) due.push(Math.round(frames * FRAME_SECONDS * 10) / 10);
    }
  }
  return due;
}

for (const [what, parts, expected] of [
  ["speech without a pause: every 20 seconds", [[5_000, 45]], [20, 40]],
  ["silence: every 20 seconds", [[0, 45]], [20, 40]],
  [
    "speech and a pause: half a second into it, once",
    [
      [5_000, 3],
      [0, 4],
    ],
    [3.5],
  ],
  [
    "a short pause: none",
    [
      [5_000, 3],
      [0, 0.4],
      [5_000, 3],
    ],
    [],
  ],
  [
    "one word: not before two seconds",
    [
      [5_000, 0.5],
      [0, 3],
    ],
    [2],
  ],
  [
    "a pause in a noisy room",
    [
      [8_000, 3],
      [300, 1],
      [8_000, 3],
      [300, 1],
    ],
    [3.5, 7.5],
  ],
  [
    "quiet speech after loud speech",
    [
      [8_000, 3],
      [0, 1],
      [2_000, 3],
      [0, 1],
    ],
    [3.5, 7.5],
  ],
] as const satisfies readonly (readonly [string, readonly (readonly [number, number])[], readonly number[]])[]) {
  test(`providers.live-commits: ${what}`, () => assert.deepEqual(commitsOf(parts), expected));
}

test("providers.live-commits: a frame at an odd place in its buffer is measured", () => {
  const isDue = createPauseDetector(RATE);
  assert.equal(isDue(new Uint8Array(3_203).subarray(3)), false);
  assert.equal(isDue(new Uint8Array(0)), false);
});
