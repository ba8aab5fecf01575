// Live audio as a measured source: buffered until it is long enough for a recording, then passed on. A provider's socket is opened with the first audio,
// because providers close or charge an idle one.
import { createSampleClock, createWebmClock, type LiveClock } from "../../audio/live-clock.ts";
import { MINIMUM_SECONDS } from "../../audio/readers/invalid-audio.ts";
import { GatewayError } from "../../contract/errors.ts";
import { LIVE_SAMPLE_RATE, type LiveEncoding, type SpeechAudio } from "../../providers/provider.ts";
import type { LiveMeter } from "./live-meter.ts";
import { liveFacts } from "../transcription/unmeasured-audio.ts";

interface HeardChunk {
  readonly bytes: Uint8Array;
  /** The seconds of all audio up to the end of this chunk. */
  readonly totalSeconds: number;
}

export interface LiveSource {
  /** Resolves when the caller has sent enough for a recording. Rejects with INVALID_AUDIO if the audio ends before. */
  readonly begun: () => Promise<void>;
  /** All chunks, once. */
  readonly chunks: () => AsyncGenerator<HeardChunk>;
}

export function createLiveSource(
  encoding: LiveEncoding,
  frames: AsyncIterable<Uint8Array>,
  maxSeconds: number,
): LiveSource {
  const clock = clockOf(encoding);
  const unread = frames[Symbol.asyncIterator]();
  const held: HeardChunk[] = [];

  async function next(): Promise<HeardChunk | null> {
    const { done, value } = await unread.next();
    if (done === true) return null;
    const totalSeconds = clock.hear(value);
    if (totalSeconds === null) throw invalidAudio("is not a WebM recording of one Opus track");
    if (totalSeconds > maxSeconds) throw tooLong(maxSeconds);
    return { bytes: value, totalSeconds };
  }

  return {
    begun: async () => {
      while ((held.at(-1)?.totalSeconds ?? 0) < MINIMUM_SECONDS) {
        const chunk = await next();
        if (chunk === null) throw invalidAudio(`contains less than ${MINIMUM_SECONDS} s of audio`);
        held.push(chunk);
      }
    },
    chunks: async function* () {
      try {
        yield* held.splice(0);
        for (let chunk = await next(); chunk !== null; chunk = await next()) yield chunk;
      } finally {
        await unread.return?.();
      }
    },
  };
}

/** The audio for one target. Every chunk is reserved before it is passed on. */
export function meteredAudio(
  encoding: LiveEncoding,
  source: LiveSource,
  meter: LiveMeter,
): SpeechAudio & { readonly hasBegun: () => boolean } {
  let hasBegun = false;
  return {
    ...liveFacts(encoding),
    mediaType: encoding === "pcm_s16le" ? "audio/l16" : "audio/webm",
    fileName: "live",
    // Grows during the call.
    get durationSeconds() {
      return meter.passedMs() / 1000;
    },
    hasBegun: () => hasBegun,
    open: async function* () {
      hasBegun = true;
      for await (const { bytes, totalSeconds } of source.chunks()) {
        await meter.pass(Math.round(totalSeconds * 1000));
        yield bytes;
      }
    },
  };
}

function clockOf(encoding: LiveEncoding): LiveClock {
  return encoding === "pcm_s16le" ? createSampleClock(LIVE_SAMPLE_RATE) : createWebmClock();
}

function invalidAudio(what: string): GatewayError {
  return new GatewayError("INVALID_AUDIO", { message: `What was sent ${what}.` });
}

function tooLong(maxSeconds: number): GatewayError {
  return new GatewayError("AUDIO_TOO_LONG", {
    message: `A live transcription lasts at most ${maxSeconds} s of audio.`,
    details: { max_audio_duration_seconds: maxSeconds },
  });
}
