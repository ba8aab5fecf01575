// Simulates OpenAI's transcription sessions, WebSocket `wss …/v1/realtime?intent=transcription`. Stricter than the provider on purpose
// [providers.sandbox-refusals]: refuses fields that are undocumented or cannot be simulated, and audio before a configuration.
import { randomUUID } from "node:crypto";
import { z } from "zod";
import { findWrongKey } from "./openai-audio.ts";
import { openAiError, openAiErrorForStatus, openAiHeaders } from "./openai-errors.ts";
import { isLanguageCode } from "../languages.ts";
import type { LiveCommand, LiveSession, LiveWire, SampleRate } from "../wire/live-wire.ts";
import type { Alteration } from "../wire/wire.ts";

const SAMPLES: SampleRate = { sampleRate: 24_000, channels: 1 };
/** "Expected at least 100ms of audio", the message of its refusal. */
const MIN_TURN_BYTES = 4_800;
const MAX_PROMPT_CHARACTERS = 1024;

const code = z.string().refine(isLanguageCode, "must be a language code");
const keyword = z
  .string()
  .min(1)
  .regex(/^[^<>\r\n]*$/u, "must not contain unsafe characters");
const transcription = z.discriminatedUnion("model", [
  z.strictObject({
    model: z.literal("gpt-live-transcribe"),
    languages: z.array(code).min(1).optional(),
    keywords: z.array(keyword).min(1).optional(),
    prompt: z.string().max(MAX_PROMPT_CHARACTERS).optional(),
  }),
  z.strictObject({ model: z.literal("gpt-realtime-whisper"), language: code.optional() }),
]);
const configuration = z.strictObject({
  type: z.literal("session.update"),
  event_id: z.string().optional(),
  session: z.strictObject({
    type: z.literal("transcription"),
    audio: z.strictObject({
      input: z.strictObject({
        format: z.strictObject({ type: z.literal("audio/pcm"), rate: z.literal(SAMPLES.sampleRate) }),
        transcription,
        // Neither model has turn detection.
        turn_detection: z.null().optional(),
      }),
    }),
  }),
});
const append = z.strictObject({
  type: z.literal("input_audio_buffer.append"),
  event_id: z.string().optional(),
  audio: z.base64().min(1),
});
const commit = z.strictObject({ type: z.literal("input_audio_buffer.commit"), event_id: z.string().optional() });

export const LIVE_MODEL_NAMES = transcription.options.flatMap(({ shape }) => shape.model.value);

export const openAiLiveWire: LiveWire = {
  name: "openai",
  // The configuration names it.
  modelParameter: null,
  errorFor: openAiErrorForStatus,
  open: ({ requestId, headers, query }, alteration) => {
    const keyFault = findWrongKey(headers.authorization, false);
    if (keyFault !== null) return { ok: false, answer: openAiError(401, keyFault, requestId) };
    const [first, ...others] = query;
    if (others.length > 0 || first?.[0] !== "intent" || first[1] !== "transcription") {
      const message = "The sandbox simulates transcription sessions alone.";
      return { ok: false, answer: openAiError(400, { message, param: "intent" }, requestId) };
    }
    return { ok: true, session: sessionOf(requestId, alteration) };
  },
};

function sessionOf(requestId: string, atOpening: Alteration): LiveSession {
  let alteration = atOpening;
  const sessionId = `session_${requestId.replaceAll("-", "")}`;
  const item = `item_${randomUUID().replaceAll("-", "")}`;
  let isConfigured = false;
  let bufferedBytes = 0;
  const texts: string[] = [];

  function configure(message: unknown): LiveCommand {
    const { data, error } = configuration.safeParse(message);
    if (data === undefined) {
      const [issue] = error.issues;
      const param = issue?.path.join(".") ?? null;
      return { say: [errorEvent({ message: `Invalid '${param}': ${issue?.message}`, code: "invalid_value", param })] };
    }
    isConfigured = true;
    const { session } = data;
    return {
      model: session.audio.input.transcription.model,
      session,
      say: [
        event("session.updated", { session: { id: sessionId, object: "realtime.transcription_session", ...session } }),
      ],
    };
  }

  return {
    samples: SAMPLES,
    headers: openAiHeaders(requestId),
    staysOpen: true,
    alter: (named) => {
      alteration = {
        ...alteration,
        isEmpty: alteration.isEmpty || named.isEmpty,
        duration: alteration.duration ?? named.duration,
      };
    },
    begin: () => [event("session.created", { session: { id: sessionId, type: "transcription" } })],
    piece: ({ text }) => {
      if (alteration.isEmpty) return [];
      const delta = texts.length === 0 ? text : ` ${text}`;
      texts.push(delta);
      return [transcriptionEvent("delta", item, { delta })];
    },
    end: (seconds) => [
      event("input_audio_buffer.committed", { item_id: item, previous_item_id: null }),
      transcriptionEvent("completed", item, {
        transcript: texts.join(""),
        usage: { type: "duration", seconds: alteration.duration ?? Math.ceil(seconds) },
      }),
    ],
    control: (message) => {
      const type = typeof message === "object" && message !== null && "type" in message ? message.type : null;
      if (type === "session.update") return configure(message);
      const refusal = (text: string, name: string): LiveCommand => ({
        say: [errorEvent({ message: text, code: name })],
      });
      if (!isConfigured) return refusal("The sandbox waits for a session.update.", "invalid_session");
      const audio = append.safeParse(message).data?.audio;
      if (audio !== undefined) {
        const bytes = Buffer.from(audio, "base64");
        bufferedBytes += bytes.byteLength;
        return { audio: bytes };
      }
      if (!commit.safeParse(message).success) return refusal("Unknown or malformed event.", "invalid_event");
      if (bufferedBytes >= MIN_TURN_BYTES) return "end";
      const heard = `${((bufferedBytes / MIN_TURN_BYTES) * 100).toFixed(2)}ms`;
      const tooSmall = `Error committing input audio buffer: buffer too small. Expected at least 100ms of audio, but buffer only has ${heard} of audio.`;
      return refusal(tooSmall, "input_audio_buffer_commit_empty");
    },
    undecodable: { code: 1008, reason: "invalid_audio" },
    failure: {
      message: errorEvent({ message: "The server had an error while processing your request.", type: "server_error" }),
      close: { code: 1011, reason: "" },
    },
  };
}

function event(type: string, members: object): object {
  return { type, event_id: `event_${randomUUID().replaceAll("-", "")}`, ...members };
}

function transcriptionEvent(name: "delta" | "completed", item: string, members: object): object {
  return event(`conversation.item.input_audio_transcription.${name}`, { item_id: item, content_index: 0, ...members });
}

function errorEvent(error: { message: string; type?: string; code?: string; param?: string | null }): object {
  return event("error", {
    error: { type: "invalid_request_error", code: null, param: null, event_id: null, ...error },
  });
}
