// Chooses where a live session's audio is committed: in pauses of speech, and at the latest after 20 seconds. ElevenLabs recommends silence and 20 to 30
// seconds, and commits by itself after 90 (docs, transcripts and commit strategies, 2026). Pure.

/** Its processing starts after two seconds of audio, and commits in quick succession make the transcript worse. */
const MIN_SEGMENT_SECONDS = 2;
const MAX_SEGMENT_SECONDS = 20;
const PAUSE_SECONDS = 0.5;
/** Mean amplitude of 16-bit samples. Below it is silence, in any recording. */
const SILENCE = 100;
/** A pause is much quieter than the loudest frame, which is forgotten within minutes. */
const QUIET_SHARE = 0.1;
const MEMORY_PER_SECOND = 0.99;

/** Returns a function that takes each frame of 16-bit mono PCM, and returns whether a commit is due after it. */
export function createPauseDetector(samplesPerSecond: number): (frame: Uint8Array) => boolean {
  let loudest = 0;
  let segmentSeconds = 0;
  let quietSeconds = 0;
  let hasSpeech = false;
  return (frame) => {
    const seconds = frame.byteLength / 2 / samplesPerSecond;
    const level = meanAmplitude(frame);
    loudest = Math.max(level, loudest * MEMORY_PER_SECOND ** seconds);
    const isQuiet = level < Math.max(SILENCE, loudest * QUIET_SHARE);
    segmentSeconds += seconds;
    quietSeconds = isQuiet ? quietSeconds + seconds : 0;
    hasSpeech ||= !isQuiet;
    const isPause = hasSpeech && quietSeconds >= PAUSE_SECONDS && segmentSeconds >= MIN_SEGMENT_SECONDS;
    if (!isPause && segmentSeconds < MAX_SEGMENT_SECONDS) return false;
    segmentSeconds = 0;
    hasSpeech = false;
    return true;
  };
}

/** Of every fourth sample, which is enough for a level. */
function meanAmplitude(frame: Uint8Array): number {
  const view = new DataView(frame.buffer, frame.byteOffset, frame.byteLength);
  let sum = 0;
  let count = 0;
  for (let at = 0; at + 2 <= frame.byteLength; at += 8) {
    sum += Math.abs(view.getInt16(at, true));
    count += 1;
  }
  return count === 0 ? 0 : sum / count;
}
