// ElevenLabs' streaming adapter: wss …/v1/speech-to-text/realtime, PCM in base64 inside JSON (elevenlabs.io/docs, AsyncAPI description; npm
// @elevenlabs/elevenlabs-js@2.73.0; checked 2026-11-26). The protocol has no end: every part of the audio is committed by the client, and the transcript is
// complete when every commit was answered. With commits by the server's own voice detection, no message would show which one is the last, and each of them
// delays all later word times by 0.1 s (github.com/elevenlabs/elevenlabs-python/issues/849, 2026-08-19).
import { droppedLivePreferences } from "../wire/dropped-live-preferences.ts";
import { primarySubtag } from "../../lib/text/primary-subtag.ts";
import type { Feature } from "../../contract/features.ts";
import { ProviderError, type StreamingIo, type WireFrame } from "../io.ts";
import {
  LIVE_SAMPLE_RATE,
  type PlanResult,
  type SpeechAudio,
  type SpeechEvent,
  type SpeechPlan,
  type SpeechRequest,
  type SpeechTarget,
} from "../provider.ts";
import { supportsPreference, unmetFeatures } from "../unmet-features.ts";
import { streamOverSocket } from "../wire/live-wire.ts";
import { pacedFrames } from "../wire/paced-frames.ts";
import { type Commits, createElevenLabsLiveReader } from "./elevenlabs-live-reader.ts";
import { createPauseDetector } from "./pause-detector.ts";

const PATH = "/v1/speech-to-text/realtime";

const SENDABLE: ReadonlySet<Feature> = new Set(["streaming", "timestamps.word", "timestamps.segment", "keyterms"]);

/** `settings` are validated by the adapter. */
export function planElevenLabsStream(request: SpeechRequest, target: SpeechTarget): PlanResult {
  const missing = unmetFeatures(request, target.speech, (feature) => SENDABLE.has(feature));
  if (missing.length > 0) return { ok: false, missing };
  const { language } = request;
  const query: [string, string][] = [
    ["model_id", target.model],
    ["commit_strategy", "manual"],
    ["include_timestamps", "true"],
  ];
  const isSteered = language.kind === "asked" && supportsPreference(target, "language");
  const detects = language.kind === "detect" && supportsPreference(target, "detect_language");
  if (isSteered || language.kind === "default") query.push(["language_code", primarySubtag(language.tag)]);
  if (detects) query.push(["include_language_detection", "true"]);
  for (const term of request.keyterms) query.push(["keyterms", term]);
  if (target.settings["no_verbatim"] === true) query.push(["no_verbatim", "true"]);
  if (target.settings["zero_retention"] === true) query.push(["enable_logging", "false"]);
  return {
    ok: true,
    plan: { kind: "raw", path: PATH, query },
    dropped: droppedLivePreferences(request, { detects, isSteered }),
  };
}

const SAMPLE_RATES: ReadonlySet<number> = new Set([8_000, 16_000, 22_050, 24_000, 44_100, 48_000]);

/** Clients report that a session without audio is closed after about 15 seconds. A twentieth of a second of silence keeps it open. */
const KEEP_ALIVE = { seconds: 0.05, everyMs: 5_000 };

export function streamElevenLabs(plan: SpeechPlan, audio: SpeechAudio, io: StreamingIo): AsyncIterable<SpeechEvent> {
  const samplesPerSecond = audio.live === "pcm_s16le" ? LIVE_SAMPLE_RATE : audio.samplesPerSecond;
  if (plan.kind !== "raw" || samplesPerSecond === undefined) throw new TypeError("ElevenLabs' socket takes samples");
  if (!SAMPLE_RATES.has(samplesPerSecond)) throw new ProviderError("rejected", { reason: "sample_rate" });
  const commits: Commits = { open: 0, isLast: false };
  const { seconds, everyMs } = KEEP_ALIVE;
  return streamOverSocket(
    {
      request: {
        path: plan.path,
        query: [...plan.query, ["audio_format", `pcm_${samplesPerSecond}`]],
        headers: io.credential === null ? {} : { "xi-api-key": io.credential },
        keepAlive: { text: audioChunk(silence(seconds, samplesPerSecond), samplesPerSecond), everyMs },
      },
      frames: () =>
        framesOf(pacedFrames(audio.open(), { samplesPerSecond, ...FRAMES }, io.pause), { samplesPerSecond, commits }),
      reader: createElevenLabsLiveReader(commits, io.credential),
    },
    io,
  );
}

/** The documentation recommends frames of 0.1 to 1 second. */
const FRAMES = { frameSeconds: 0.1, minFrameSeconds: 0.05 };
/** "You need at least 0.3s of uncommitted audio before committing": the rest of the last segment is silence. */
const MIN_COMMIT_SECONDS = 0.4;

async function* framesOf(
  frames: AsyncIterable<Uint8Array>,
  { samplesPerSecond, commits }: { readonly samplesPerSecond: number; readonly commits: Commits },
): AsyncGenerator<WireFrame> {
  const isPauseAfter = createPauseDetector(samplesPerSecond);
  let isDue = false;
  let uncommittedSeconds = 0;
  for await (const frame of frames) {
    // A commit goes with the next frame, so that two of them always have audio in between.
    if (isDue) commits.open += 1;
    yield { audioText: audioChunk(frame, samplesPerSecond, isDue) };
    const seconds = frame.byteLength / 2 / samplesPerSecond;
    uncommittedSeconds = isDue ? 0 : uncommittedSeconds + seconds;
    isDue = isPauseAfter(frame);
  }
  if (uncommittedSeconds < MIN_COMMIT_SECONDS) {
    yield { audioText: audioChunk(silence(MIN_COMMIT_SECONDS, samplesPerSecond), samplesPerSecond) };
  }
  commits.open += 1;
  commits.isLast = true;
  yield audioChunk(new Uint8Array(0), samplesPerSecond, true);
}

function silence(seconds: number, samplesPerSecond: number): Uint8Array {
  return new Uint8Array(Math.round(seconds * samplesPerSecond) * 2);
}

function audioChunk(samples: Uint8Array, samplesPerSecond: number, commit = false): string {
  const audio = Buffer.from(samples.buffer, samples.byteOffset, samples.byteLength).toString("base64");
  return JSON.stringify({
    message_type: "input_audio_chunk",
    audio_base_64: audio,
    commit,
    sample_rate: samplesPerSecond,
  });
}
