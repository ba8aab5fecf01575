// What no damage to a recording may do to its verdict.
import assert from "node:assert/strict";
import type { Measurement } from "../../src/audio/measure.ts";
import type { AudioFormat } from "../../src/contract/transcription/audio-formats.ts";

/** The most a byte can hold: 8 kbit/s for MPEG audio, one packet of the longest kind elsewhere. */
const MOST_SECONDS_PER_BYTE: Record<AudioFormat, number> = {
  wav: 1 / 40,
  mp3: 0.001,
  mpeg: 0.001,
  webm: 1,
  mp4: 1.024,
  m4a: 1.024,
};

export function assertSane(measurement: Measurement, bytes: Uint8Array): void {
  if (!measurement.ok) {
    // These two verdicts would mean a hang, or an error no rule foresaw.
    assert.ok(!["could not be read in time", "could not be read"].includes(measurement.reason), measurement.reason);
    return;
  }
  const { durationSeconds, format } = measurement;
  assert.ok(Number.isFinite(durationSeconds) && durationSeconds >= 0.1, String(durationSeconds));
  assert.ok(
    durationSeconds <= bytes.length * MOST_SECONDS_PER_BYTE[format],
    `${durationSeconds} s in ${bytes.length} bytes`,
  );
}
