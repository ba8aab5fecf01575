// OpenAI's adapter for live audio: a transcription session of the Realtime API, wss …/v1/realtime?intent=transcription, with 24 kHz PCM in base64 (types of npm
// openai@7.57.0 and its guide to realtime transcription, checked 2026-11-26). The whole audio is one turn, which the commit at its end completes.
import type { Feature, Preference } from "../../contract/features.ts";
import { primarySubtag } from "../../lib/text/primary-subtag.ts";
import { ProviderError, type StreamingIo, type WireFrame } from "../io.ts";
import {
  LIVE_SAMPLE_RATE,
  type PlanResult,
  type ProviderTranscript,
  type RawTranscript,
  type SpeechAudio,
  type SpeechEvent,
  type SpeechPlan,
  type SpeechRequest,
  type SpeechTarget,
} from "../provider.ts";
import { receiptsFor } from "../receipts.ts";
import { supportsPreference, unmetFeatures } from "../unmet-features.ts";
import { streamOverSocket } from "../wire/live-wire.ts";
import { requestIdOf } from "../wire/read-reply.ts";
import { liveFamily } from "./openai-live-models.ts";
import { createLiveReader, liveBody } from "./openai-live-reply.ts";
import { createRateConverter } from "./openai-sample-rate.ts";

const PATH = "/realtime";
/** "Expected a string with maximum length 1024", the message of its refusal (second-hand, 2026-08-16). */
const MAX_PROMPT_CHARACTERS = 1024;

export function planOpenAiLive(request: SpeechRequest, target: SpeechTarget): PlanResult {
  const family = liveFamily(target.model);
  const canSend = (feature: Feature): boolean =>
    feature === "streaming" || (feature === "keyterms" && family === "transcribe");
  const missing = unmetFeatures(request, target.speech, canSend);
  if (missing.length > 0) return { ok: false, missing };
  if (!request.stream) return { ok: false, missing: ["batch"] };
  const transcription = transcriptionOf(request, target);
  const body = {
    type: "transcription",
    // Neither model has turn detection.
    audio: { input: { format: { type: "audio/pcm", rate: 24_000 }, transcription, turn_detection: null } },
  };
  return {
    ok: true,
    plan: { kind: "json", path: PATH, body },
    dropped: droppedPreferences(request, target, transcription),
  };
}

interface Transcription {
  readonly model: string;
  readonly language?: string;
  readonly languages?: readonly string[];
  readonly keywords?: readonly string[];
  readonly prompt?: string;
}

function transcriptionOf(request: SpeechRequest, target: SpeechTarget): Transcription {
  const prompt = sendablePrompt(request, target);
  return {
    model: target.model,
    ...languageOf(request, target),
    ...(request.keyterms.length === 0 ? {} : { keywords: request.keyterms }),
    ...(prompt === null ? {} : { prompt }),
  };
}

/** gpt-live-transcribe refuses the field of the older models. */
function languageOf({ language }: SpeechRequest, target: SpeechTarget): Pick<Transcription, "language" | "languages"> {
  if (language.kind !== "asked" || !supportsPreference(target, "language")) return {};
  const code = primarySubtag(language.tag);
  return liveFamily(target.model) === "whisper" ? { language: code } : { languages: [code] };
}

function sendablePrompt({ prompt }: SpeechRequest, target: SpeechTarget): string | null {
  if (prompt === null || prompt.length > MAX_PROMPT_CHARACTERS) return null;
  return liveFamily(target.model) === "transcribe" && supportsPreference(target, "prompt") ? prompt : null;
}

function droppedPreferences(request: SpeechRequest, target: SpeechTarget, sent: Transcription): readonly Preference[] {
  const dropped: Preference[] = [];
  const { smartFormatting } = request;
  if (request.language.kind === "detect") dropped.push("detect_language");
  if (request.speakerCountHint !== null) dropped.push("speaker_count_hint");
  // As with its models for files, formatting cannot be switched off.
  if (smartFormatting === false || (smartFormatting === true && !supportsPreference(target, "smart_formatting")))
    dropped.push("smart_formatting");
  if (request.prompt !== null && sent.prompt === undefined) dropped.push("prompt");
  if (request.language.kind === "asked" && (sent.language ?? sent.languages) === undefined) dropped.push("language");
  return dropped;
}

export function streamOpenAiLive(plan: SpeechPlan, audio: SpeechAudio, io: StreamingIo): AsyncIterable<SpeechEvent> {
  const samplesPerSecond = audio.live === "pcm_s16le" ? LIVE_SAMPLE_RATE : audio.samplesPerSecond;
  if (plan.kind !== "json") throw new TypeError("OpenAI's sessions take a configuration");
  // A recording, for a model that only a configuration declares.
  if (samplesPerSecond !== LIVE_SAMPLE_RATE) throw new ProviderError("rejected", { reason: "sample_rate" });
  const reader = createLiveReader(io.credential);
  return streamOverSocket(
    {
      request: {
        path: plan.path,
        query: [["intent", "transcription"]],
        headers: io.credential === null ? {} : { authorization: `Bearer ${io.credential}` },
      },
      opening: JSON.stringify({ type: "session.update", session: plan.body }),
      frames: async function* () {
        // A refused configuration is answered before any audio, so that another target can be tried.
        await reader.configured;
        const converter = createRateConverter();
        for await (const chunk of audio.open()) yield* appended(converter.push(chunk));
        yield* appended(converter.end());
        reader.expectCommit();
        yield JSON.stringify({ type: "input_audio_buffer.commit" });
      },
      reader,
    },
    io,
  );
}

function* appended(samples: Buffer): Generator<WireFrame> {
  if (samples.byteLength === 0) return;
  yield { audioText: JSON.stringify({ type: "input_audio_buffer.append", audio: samples.toString("base64") }) };
}

export function normaliseOpenAiLive(
  raw: RawTranscript,
  request: SpeechRequest,
  target: SpeechTarget,
  audio: SpeechAudio,
): ProviderTranscript {
  const { data } = liveBody.safeParse(raw.body);
  if (data === undefined) throw new ProviderError("bad_reply", { reason: "missing_fields" });
  // A `sent` receipt is read from the configuration.
  const { keywords } = transcriptionOf(request, target);
  const wasSent = (feature: Feature): boolean =>
    feature === "streaming" || (feature === "keyterms" && keywords !== undefined);
  const evidence = { text: data.text, words: [], segments: [], channels: 1, language: null, wasSent };
  return {
    text: data.text,
    language: null,
    languageConfidence: null,
    segments: [],
    words: [],
    providerSeconds: data.seconds,
    providerRequestId: requestIdOf(raw.headers, "x-request-id") ?? data.id,
    receipts: receiptsFor(request, audio, evidence, false),
  };
}
