// Simulates Deepgram's WebSocket `wss …/v1/listen`. Stricter than the provider on purpose [providers.sandbox-refusals], as for files: refuses parameters that
// are documented only for files.
import { randomUUID } from "node:crypto";
import { deepgramError, errorForStatus } from "./deepgram-errors.ts";
import { type DeepgramAsked, judgeDeepgramQuery } from "./deepgram-rules.ts";
import { isAuthorized } from "./deepgram.ts";
import type { LivePiece, LiveSession, LiveWire, SampleRate } from "../wire/live-wire.ts";
import { bareWord } from "../simulate.ts";
import { type Alteration, type Pairs, valueOf, valuesOf } from "../wire/wire.ts";

const CONFIDENCE = 0.99;
const OF_FILES = new Set(["detect_language", "utterances", "paragraphs", "utt_split"]);
const LIVE_BOOLEANS = new Set(["interim_results", "vad_events", "no_delay"]);
const LIVE_REDACTION = new Set(["pci", "numbers", "aggressive_numbers", "ssn", "true"]);
const OF_SOCKETS = new Set([
  ...LIVE_BOOLEANS,
  "encoding",
  "sample_rate",
  "channels",
  "endpointing",
  "utterance_end_ms",
]);

export const deepgramLiveWire: LiveWire = {
  name: "deepgram",
  modelParameter: "model",
  errorFor: errorForStatus,
  open: ({ requestId, headers, query }, alteration) => {
    if (!isAuthorized(headers.authorization)) {
      return {
        ok: false,
        answer: addReasonHeader(deepgramError(401, "INVALID_AUTH", "Invalid credentials.", requestId)),
      };
    }
    const rest = query.filter(([name]) => !OF_SOCKETS.has(name));
    const fault = findWrongLiveParameter(query);
    const verdict = judgeDeepgramQuery(rest);
    if (fault !== null || !verdict.ok) {
      const message = fault ?? (verdict.ok ? "" : verdict.message);
      return { ok: false, answer: addReasonHeader(deepgramError(400, "INVALID_QUERY_PARAMETER", message, requestId)) };
    }
    return { ok: true, session: sessionOf(verdict.asked, samplesOf(query), requestId, alteration) };
  },
};

/** A refused upgrade also has the reason in a header. */
function addReasonHeader(answer: ReturnType<typeof deepgramError>): ReturnType<typeof deepgramError> {
  return { ...answer, headers: { ...answer.headers, "dg-error": "Unable to open the stream." } };
}

function findWrongLiveParameter(query: Pairs): string | null {
  const wrong = query.find(([name]) => OF_FILES.has(name));
  if (wrong !== undefined) return `\`${wrong[0]}\` is not available for streams.`;
  const version = valueOf(query, "diarize_model");
  if (version !== null && version !== "v1" && version !== "latest") return "Streams know `diarize_model=v1` alone.";
  const redacted = valuesOf(query, "redact").find((value) => !LIVE_REDACTION.has(value));
  if (redacted !== undefined) return `\`redact=${redacted}\` is not available for streams.`;
  const flag = query.find(([name, value]) => LIVE_BOOLEANS.has(name) && value !== "true" && value !== "false");
  if (flag !== undefined) return `Invalid value for \`${flag[0]}\`: must be true or false.`;
  const encoding = valueOf(query, "encoding");
  if (encoding === null) {
    return valueOf(query, "sample_rate") === null ? null : "`sample_rate` needs `encoding`.";
  }
  if (encoding !== "linear16") return "The sandbox hears linear16 and containers alone.";
  return Number(valueOf(query, "sample_rate")) >= 8_000 ? null : "`encoding=linear16` needs `sample_rate`.";
}

function samplesOf(query: Pairs): SampleRate | null {
  if (valueOf(query, "encoding") === null) return null;
  return { sampleRate: Number(valueOf(query, "sample_rate")), channels: Number(valueOf(query, "channels") ?? 1) };
}

function sessionOf(
  asked: DeepgramAsked,
  samples: SampleRate | null,
  requestId: string,
  { drops, isEmpty, duration, otherModel }: Alteration,
): LiveSession {
  const isMultichannel = asked.isMultichannel && !drops.has("multichannel");
  const model = otherModel ?? (drops.has("model") ? "nova-2" : asked.model);
  const modelUuid = randomUUID();
  const about = {
    request_id: requestId,
    model_info: { name: `general-${model}`, version: "2026-01-01.0", arch: model },
    model_uuid: modelUuid,
  };
  const wordsOf = ({ words, index }: LivePiece): readonly object[] =>
    words.map(({ text, start, end }) => ({
      word: asked.isPunctuated ? bareWord(text) : text,
      start,
      end,
      confidence: CONFIDENCE,
      ...(asked.diarization !== null && !drops.has("diarization") ? { speaker: index % 2 } : {}),
      ...(asked.isPunctuated ? { punctuated_word: text } : {}),
    }));
  return {
    samples,
    headers: { "dg-request-id": requestId },
    begin: () => [],
    piece: (piece, channels) =>
      Array.from({ length: isMultichannel ? channels : 1 }, (_, channel) => ({
        type: "Results",
        channel_index: [channel, isMultichannel ? channels : 1],
        start: piece.start,
        duration: piece.end - piece.start,
        is_final: true,
        speech_final: true,
        channel: {
          alternatives: [
            {
              transcript: isEmpty ? "" : piece.text,
              confidence: isEmpty ? 0 : CONFIDENCE,
              words: isEmpty || drops.has("timestamps.word") ? [] : wordsOf(piece),
            },
          ],
        },
        metadata: about,
      })),
    end: (seconds, channels) => [
      {
        type: "Metadata",
        transaction_key: "deprecated",
        request_id: requestId,
        sha256: "",
        created: new Date().toISOString(),
        duration: duration ?? seconds,
        channels: isMultichannel ? channels : 1,
        models: [modelUuid],
      },
    ],
    control: (message) => {
      const type = typeof message === "object" && message !== null && "type" in message ? message.type : null;
      if (type === "CloseStream") return "end";
      return type === "KeepAlive" || type === "Finalize"
        ? "nothing"
        : { code: 1008, reason: "DATA-0000: unknown message" };
    },
    undecodable: { code: 1008, reason: "DATA-0000" },
    failure: { message: null, close: { code: 1011, reason: "NET-0000" } },
  };
}
