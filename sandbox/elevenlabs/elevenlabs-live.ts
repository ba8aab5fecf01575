// Simulates ElevenLabs' WebSocket `wss …/v1/speech-to-text/realtime` with commits by the client. Stricter than the provider on purpose
// [providers.sandbox-refusals]: refuses parameters that are undocumented or cannot be simulated, and frames of more than a second.
import { randomUUID } from "node:crypto";
import { elevenLabsErrorForStatus } from "./elevenlabs.ts";
import type { LiveAudio, LiveClose, LivePiece, LiveSession, LiveWire, SampleRate } from "../wire/live-wire.ts";
import { type Alteration, type Pairs, valueOf, valuesOf } from "../wire/wire.ts";

const LOGPROB = -0.02;
const BYTES_PER_SAMPLE = 2;
const MODELS = ["scribe_v2_realtime", "scribe_v2_realtime_turbo", "scribe_v2_realtime_lite"];
const FORMAT = /^pcm_(8000|16000|22050|24000|44100|48000)$/u;
const FLAGS = new Set(["include_timestamps", "include_language_detection", "no_verbatim", "enable_logging"]);
const REPEATED = new Set(["keyterms", "secondary_languages"]);
const PARAMETERS = new Set([...FLAGS, ...REPEATED, "model_id", "audio_format", "commit_strategy", "language_code"]);
const KEYTERMS = { most: 50, characters: 20 };
const MAX_FRAME_SECONDS = 1;
const MIN_COMMIT_SECONDS = 0.3;

export const elevenLabsLiveWire: LiveWire = {
  name: "elevenlabs",
  modelParameter: "model_id",
  errorFor: elevenLabsErrorForStatus,
  open: ({ headers, query }, alteration) => {
    const key = String(headers["xi-api-key"] ?? "");
    const session = sessionOf(query, alteration);
    // The upgrade succeeds and the socket is then closed.
    const isKnown = key !== "" && key !== "invalid";
    if (!isKnown) return { ok: true, session: { ...session, refusal: closeWith("auth_error", "Invalid API key") } };
    const fault = findWrongParameter(query);
    return {
      ok: true,
      session: fault === null ? session : { ...session, refusal: closeWith("invalid_request", fault) },
    };
  },
};

/** Reports the same error twice: as a message, and as the reason of the close. */
function closeWith(type: string, error: string): LiveClose {
  return { code: 1008, reason: type, message: { message_type: type, error } };
}

function findWrongParameter(query: Pairs): string | null {
  const model = valueOf(query, "model_id") ?? "";
  if (!MODELS.includes(model)) {
    const supported = MODELS.map((each) => `'${each}'`).join(", ");
    return `The model_id '${model}' is invalid. Supported models: ${supported}.`;
  }
  const names = new Set<string>();
  for (const [name, value] of query) {
    if (!PARAMETERS.has(name)) return `The sandbox does not simulate ${name}.`;
    if (names.has(name) && !REPEATED.has(name)) return `${name} is given more than once.`;
    names.add(name);
    if (FLAGS.has(name) && value !== "true" && value !== "false") return `${name} must be true or false.`;
    if ((name === "language_code" || name === "secondary_languages") && !/^[a-z]{2,3}$/u.test(value))
      return `${name} must be an ISO 639 code.`;
  }
  if (!FORMAT.test(valueOf(query, "audio_format") ?? "")) return "The sandbox hears PCM alone.";
  if ((valueOf(query, "commit_strategy") ?? "manual") !== "manual") return "The sandbox does not detect voices.";
  const terms = valuesOf(query, "keyterms");
  return terms.length <= KEYTERMS.most && terms.every((term) => term.length <= KEYTERMS.characters)
    ? null
    : "At most 50 keyterms of at most 20 characters are supported.";
}

function sessionOf(query: Pairs, alteration: Alteration): LiveSession {
  const sampleRate = Number(FORMAT.exec(valueOf(query, "audio_format") ?? "")?.[1] ?? 16_000);
  const samples: SampleRate = { sampleRate, channels: 1 };
  let pieces: LivePiece[] = [];
  let committedSeconds = 0;
  return {
    samples,
    headers: {},
    begin: () => [startOf(query, sampleRate, alteration)],
    piece: (piece) => {
      pieces.push(piece);
      return [{ message_type: "partial_transcript", text: textOf(pieces, alteration) }];
    },
    commit: (seconds) => {
      const uncommittedSeconds = seconds - committedSeconds;
      if (uncommittedSeconds < MIN_COMMIT_SECONDS) return [throttled(uncommittedSeconds)];
      const messages = committed(pieces, query, alteration);
      committedSeconds = seconds;
      pieces = [];
      return messages;
    },
    end: () => [],
    refuseFrame: (bytes) =>
      bytes / (sampleRate * BYTES_PER_SAMPLE) > MAX_FRAME_SECONDS
        ? closeWith("chunk_size_exceeded", "The chunk is longer than a second.")
        : null,
    control: (message) => audioIn(message, sampleRate) ?? closeWith("input_error", "Invalid message."),
    undecodable: closeWith("input_error", "Invalid audio."),
    failure: {
      message: { message_type: "transcriber_error", error: "The transcriber failed." },
      close: { code: 1011, reason: "transcriber_error" },
    },
  };
}

function startOf(query: Pairs, sampleRate: number, { otherModel }: Alteration): object {
  const isOn = (name: string): boolean => valueOf(query, name) === "true";
  return {
    message_type: "session_started",
    session_id: randomUUID().replaceAll("-", ""),
    config: {
      sample_rate: sampleRate,
      audio_format: `pcm_${sampleRate}`,
      language_code: valueOf(query, "language_code"),
      secondary_languages: valuesOf(query, "secondary_languages"),
      vad_commit_strategy: false,
      model_id: otherModel ?? valueOf(query, "model_id"),
      include_timestamps: isOn("include_timestamps"),
      include_language_detection: isOn("include_language_detection"),
      keyterms: valuesOf(query, "keyterms"),
      no_verbatim: isOn("no_verbatim"),
      disable_logging: valueOf(query, "enable_logging") === "false",
    },
  };
}

function textOf(pieces: readonly LivePiece[], { isEmpty }: Alteration): string {
  return isEmpty ? "" : pieces.map(({ text }) => text).join(" ");
}

/** The settled text, the committed one, and again with the times. */
function committed(pieces: readonly LivePiece[], query: Pairs, alteration: Alteration): readonly object[] {
  const text = textOf(pieces, alteration);
  const { drops, isEmpty } = alteration;
  const detects = valueOf(query, "include_language_detection") === "true" && !drops.has("language");
  const isTimed = valueOf(query, "include_timestamps") === "true";
  const plain = [
    { message_type: "final_transcript", text },
    { message_type: "committed_transcript", text },
  ];
  if (!isTimed) return plain;
  const hasWords = !isEmpty && !drops.has("timestamps.word");
  return [
    ...plain,
    {
      message_type: "committed_transcript_with_timestamps",
      text,
      ...(detects ? { language_code: "eng" } : {}),
      words: hasWords ? insertSpaces(pieces) : [],
    },
  ];
}

function insertSpaces(pieces: readonly LivePiece[]): readonly object[] {
  return pieces
    .flatMap(({ words }) => words)
    .flatMap((word, position) => {
      const entry = { text: word.text, start: word.start, end: word.end, type: "word", logprob: LOGPROB };
      const space = { text: " ", start: word.start, end: word.start, type: "spacing", logprob: 0 };
      return position === 0 ? [entry] : [space, entry];
    });
}

function throttled(seconds: number): object {
  const error = `Commit request ignored: only ${seconds.toFixed(2)}s of uncommitted audio. You need at least 0.3s of uncommitted audio before committing.`;
  return { message_type: "commit_throttled", error };
}

/** Null: not an audio chunk of this session. */
function audioIn(message: unknown, sampleRate: number): LiveAudio | null {
  if (typeof message !== "object" || message === null) return null;
  const { message_type: type, audio_base_64: audio, commit, sample_rate: rate } = message as Record<string, unknown>;
  if (type !== "input_audio_chunk" || typeof audio !== "string") return null;
  if (!/^[A-Za-z0-9+/]*={0,2}$/u.test(audio) || audio.length % 4 !== 0) return null;
  if (rate !== undefined && rate !== sampleRate) return null;
  if (commit !== undefined && typeof commit !== "boolean") return null;
  return { audio: Buffer.from(audio, "base64"), isCommit: commit === true };
}
