// AssemblyAI's streaming adapter: wss …/v3/ws, PCM in frames of 100 ms, at most in real time (assemblyai.com/docs/streaming, checked 2026-11-26). Its turns are
// assembled into the transcript object that a file would have had.
import { droppedLivePreferences } from "../wire/dropped-live-preferences.ts";
import { gapBetween, joinWords } from "../../lib/text/join-words.ts";
import { primarySubtag } from "../../lib/text/primary-subtag.ts";
import { z } from "zod";
import type { Feature } from "../../contract/features.ts";
import { supportsPreference, unmetFeatures } from "../unmet-features.ts";
import { ProviderError, type StreamingIo } from "../io.ts";
import { type LiveReader, streamOverSocket } from "../wire/live-wire.ts";
import { pacedFrames } from "../wire/paced-frames.ts";
import {
  LIVE_SAMPLE_RATE,
  type PlanResult,
  type ProviderSegment,
  type SpeechAudio,
  type SpeechEvent,
  type SpeechPlan,
  type SpeechRequest,
  type SpeechTarget,
} from "../provider.ts";

const PATH = "/v3/ws";
/** "Expected between 50 and 1000 ms". "Audio sent faster than real-time" ends a session. */
const FRAME_SECONDS = { frameSeconds: 0.1, minFrameSeconds: 0.05 };

const SENDABLE: ReadonlySet<Feature> = new Set([
  "streaming",
  "timestamps.word",
  "timestamps.segment",
  "diarization",
  "keyterms",
]);

export function planAssemblyAiStream(request: SpeechRequest, target: SpeechTarget): PlanResult {
  const missing = unmetFeatures(request, target.speech, (feature) => SENDABLE.has(feature));
  if (missing.length > 0) return { ok: false, missing };
  const detects = request.language.kind === "detect" && supportsPreference(target, "detect_language");
  const query: [string, string][] = [
    ["speech_model", target.model],
    ["encoding", "pcm_s16le"],
    ["format_turns", "true"],
  ];
  if (detects) query.push(["language_detection", "true"]);
  const steered = request.language.kind === "asked" && supportsPreference(target, "language");
  if (request.language.kind === "asked" && steered)
    query.push(["language_codes", JSON.stringify([primarySubtag(request.language.tag)])]);
  if (request.diarization) query.push(["speaker_labels", "true"]);
  if (request.keyterms.length > 0) query.push(["keyterms_prompt", JSON.stringify(request.keyterms)]);
  return {
    ok: true,
    plan: { kind: "raw", path: PATH, query },
    // The name of an older model determines its languages, and there is no parameter for one.
    dropped: droppedLivePreferences(request, { detects, isSteered: steered }),
  };
}

export function streamAssemblyAi(plan: SpeechPlan, audio: SpeechAudio, io: StreamingIo): AsyncIterable<SpeechEvent> {
  const samplesPerSecond = audio.live === "pcm_s16le" ? LIVE_SAMPLE_RATE : audio.samplesPerSecond;
  if (plan.kind !== "raw" || samplesPerSecond === undefined) throw new TypeError("AssemblyAI's socket takes samples");
  return streamOverSocket(
    {
      request: {
        path: plan.path,
        query: [...plan.query, ["sample_rate", String(samplesPerSecond)]],
        headers: io.credential === null ? {} : { authorization: io.credential },
        siblings: [
          { domain: "eu.assemblyai.com", origin: "https://streaming.eu.assemblyai.com" },
          { domain: "assemblyai.com", origin: "https://streaming.assemblyai.com" },
        ],
      },
      frames: () => framesOf(audio.open(), samplesPerSecond, io),
      reader: createReader(),
    },
    io,
  );
}

async function* framesOf(
  chunks: AsyncIterable<Uint8Array>,
  samplesPerSecond: number,
  io: StreamingIo,
): AsyncGenerator<string | Uint8Array> {
  yield* pacedFrames(chunks, { samplesPerSecond, ...FRAME_SECONDS }, io.pause);
  yield JSON.stringify({ type: "Terminate" });
}

const word = z.object({
  text: z.string(),
  start: z.number(),
  end: z.number(),
  confidence: z.unknown().optional(),
  speaker: z.string().nullish(),
});
const begin = z.object({ type: z.literal("Begin"), id: z.string().regex(/^[\w-]{1,128}$/u) });
const turn = z.object({
  type: z.literal("Turn"),
  turn_order: z.int().min(0),
  turn_is_formatted: z.boolean(),
  end_of_turn: z.boolean(),
  transcript: z.string(),
  words: z.array(word),
  language_code: z.string().nullish(),
  language_confidence: z.unknown().optional(),
  speaker_label: z.string().nullish(),
});
type Turn = z.infer<typeof turn>;
const termination = z.object({ type: z.literal("Termination"), audio_duration_seconds: z.unknown().optional() });
/** A message of another type corrects earlier speaker labels: what a caller already received is not changed. */
const messageSchema = z.discriminatedUnion("type", [begin, turn, termination]);
const failed = z.object({ type: z.literal("Error"), error_code: z.number(), error: z.string().catch("") });

const isMessage = z.object({ type: z.enum(["Begin", "Turn", "Termination"]) });
const TYPES: ReadonlySet<string> = new Set([...isMessage.shape.type.options, "Error"]);

type Piece = Exclude<SpeechEvent, { type: "end" }>;

function createReader(): LiveReader {
  const turns: Turn[] = [];
  /** A turn that ended and was not yet sent again with punctuation. */
  let pending: Turn | null = null;
  let id: string | null = null;
  let body: object | null = null;

  function piecesOf(each: Turn): readonly Piece[] {
    const transcript = each.transcript.trim();
    if (transcript === "") return [];
    const gap = gapBetween(turns.at(-1)?.transcript ?? "", transcript);
    turns.push({ ...each, transcript });
    return [
      { type: "text", text: `${gap}${transcript}` },
      { type: "segment", segment: segmentOf(each, transcript) },
    ];
  }
  function flush(): readonly Piece[] {
    const turn = pending;
    pending = null;
    return turn === null ? [] : piecesOf(turn);
  }
  return {
    types: TYPES,
    failure: (message) => {
      const { data } = failed.safeParse(message);
      return data === undefined ? null : failureOf(data.error_code, data.error);
    },
    read: (message) => {
      if (!isMessage.safeParse(message).success) return [];
      const { data, success } = messageSchema.safeParse(message);
      if (!success) throw new ProviderError("bad_reply", { reason: "missing_fields" });
      if (data.type === "Begin") {
        id = data.id;
        return [];
      }
      if (data.type === "Termination") {
        const rest = flush();
        body = bodyOf(turns, id, data.audio_duration_seconds);
        return rest;
      }
      if (!data.end_of_turn) return [];
      const earlier = pending !== null && pending.turn_order !== data.turn_order ? flush() : [];
      pending = data.turn_is_formatted ? null : data;
      return data.turn_is_formatted ? [...earlier, ...piecesOf(data)] : earlier;
    },
    end: () => body,
    closeFailure: ({ code, reason }) => (isOfAccount(code) ? failureOf(code, reason) : null),
  };
}

/** docs/streaming/common-session-errors-and-closures: "Unauthorized Connection: …", with a reason in prose. */
function isOfAccount(code: number): boolean {
  return code === 1008 || code === 3009;
}

function failureOf(code: number, prose: string): ProviderError {
  const options = { reason: `close_${code}` };
  if (!isOfAccount(code))
    return new ProviderError(code === 3006 || code === 3007 ? "rejected" : "server_error", options);
  if (/too many/iu.test(prose)) return new ProviderError("rate_limited", options);
  return new ProviderError(/balance|funds/iu.test(prose) ? "payment" : "unauthorized", options);
}

const first = ({ words: [word] }: Turn): number => word?.start ?? 0;
const last = ({ words }: Turn): number => words.at(-1)?.end ?? 0;

function segmentOf(each: Turn, text: string): ProviderSegment {
  return {
    text,
    start: first(each) / 1000,
    end: last(each) / 1000,
    confidence: null,
    speaker: each.speaker_label ?? null,
    channel: null,
  };
}

/** The session repeats none of the requested options, not even the model. */
function bodyOf(turns: readonly Turn[], id: string | null, seconds: unknown): object {
  const detected = turns.find(({ language_code: code }) => code != null);
  return {
    id: id ?? "unknown",
    text: joinWords(turns.map(({ transcript }) => transcript)),
    audio_duration: seconds,
    language_code: detected?.language_code ?? null,
    language_confidence: detected?.language_confidence ?? null,
    words: turns.flatMap(({ words, speaker_label: speaker }) =>
      words.map((each) => ({ ...each, speaker: each.speaker ?? speaker ?? null })),
    ),
    utterances: turns.map((each) => ({
      text: each.transcript,
      start: first(each),
      end: last(each),
      speaker: each.speaker_label ?? null,
    })),
  };
}
