// Simulates AssemblyAI's WebSocket `wss …/v3/ws`. Stricter than the provider on purpose [providers.sandbox-refusals]: refuses parameters that are undocumented
// or cannot be simulated, and audio that arrives much faster than real time.
import { randomUUID } from "node:crypto";
import { assemblyAiError } from "./assemblyai.ts";
import { isLanguageCode } from "../languages.ts";
import type { LiveClose, LivePiece, LiveSession, LiveWire, SampleRate } from "../wire/live-wire.ts";
import { type Alteration, type Pairs, parseJson, valueOf } from "../wire/wire.ts";

const CONFIDENCE = 0.97;
const BYTES_PER_SAMPLE = 2;
const MULTILINGUAL = "universal-streaming-multilingual";
const PRO = new Set(["universal-3-6-pro", "universal-3-5-pro", "u3-rt-pro"]);
const MODELS = new Set([...PRO, "universal-streaming-english", MULTILINGUAL]);
const FLAGS = new Set(["format_turns", "speaker_labels", "language_detection"]);
const PARAMETERS = new Set([...FLAGS, "speech_model", "encoding", "sample_rate", "keyterms_prompt", "language_codes"]);
const KEYTERMS = { most: 100, characters: 50 };
const FRAME_SECONDS = { least: 0.05, most: 1 };
/** Allows for buffering on the way. The provider's own tolerance is not documented. */
const AHEAD_SECONDS = 3;

export const assemblyAiLiveWire: LiveWire = {
  name: "assemblyai",
  modelParameter: "speech_model",
  errorFor: (status) => assemblyAiError(status, "The sandbox was configured to fail."),
  open: ({ headers, query }, alteration) => {
    const fault = findWrongParameter(query);
    if (fault !== null) return { ok: false, answer: assemblyAiError(400, fault) };
    const key = headers.authorization ?? "";
    const isKnown = key !== "" && key !== "invalid" && !/\s/u.test(key);
    const session = sessionOf(query, alteration);
    // The upgrade succeeds and the socket is then closed.
    const refusal = closeWith(1008, "Unauthorized Connection: Missing Authorization header");
    return { ok: true, session: isKnown ? session : { ...session, refusal } };
  },
};

/** Reports the same error twice: as a message, and as the close code. */
function closeWith(code: number, reason: string): LiveClose {
  return { code, reason, message: { type: "Error", error_code: code, error: reason } };
}

function findWrongParameter(query: Pairs): string | null {
  const unknown = query.find(([name]) => !PARAMETERS.has(name));
  if (unknown !== undefined) return `The sandbox does not simulate ${unknown[0]}.`;
  const flag = query.find(([name, value]) => FLAGS.has(name) && value !== "true" && value !== "false");
  if (flag !== undefined) return `${flag[0]} is true or false`;
  const model = valueOf(query, "speech_model") ?? "";
  if (!MODELS.has(model)) return "speech_model is not one that streams";
  if (valueOf(query, "language_detection") === "true" && model !== MULTILINGUAL && !PRO.has(model))
    return `${model} detects nothing`;
  if (valueOf(query, "encoding") !== "pcm_s16le") return "The sandbox hears pcm_s16le alone.";
  if (!(Number(valueOf(query, "sample_rate")) >= 8_000)) return "sample_rate is missing";
  const codes = valueOf(query, "language_codes");
  if (codes !== null && !PRO.has(model)) return `language_codes does not steer ${model}`;
  if (codes !== null && !isListOfLanguages(codes)) return "language_codes is a list in JSON, of language codes";
  const terms = valueOf(query, "keyterms_prompt");
  return terms === null || isListOfTerms(terms)
    ? null
    : "keyterms_prompt is a list in JSON, of at most 100 short terms";
}

function isListOfLanguages(text: string): boolean {
  const codes = parseJson(text);
  return Array.isArray(codes) && codes.every((code) => typeof code === "string" && isLanguageCode(code));
}

function isListOfTerms(text: string): boolean {
  const terms = parseJson(text);
  const isTerm = (term: unknown): boolean => typeof term === "string" && term.length <= KEYTERMS.characters;
  return Array.isArray(terms) && terms.length <= KEYTERMS.most && terms.every(isTerm);
}

function sessionOf(query: Pairs, alteration: Alteration): LiveSession {
  const samples: SampleRate = { sampleRate: Number(valueOf(query, "sample_rate")), channels: 1 };
  const isFormatted = valueOf(query, "format_turns") === "true";
  const isSpeaking = createFrameJudge(samples);
  return {
    samples,
    headers: {},
    begin: () => [{ type: "Begin", id: randomUUID(), expires_at: Math.floor(Date.now() / 1000) + 10_800 }],
    // A turn is sent when it ends, and again with punctuation.
    piece: (piece) => [
      turnOf(piece, false, query, alteration),
      ...(isFormatted ? [turnOf(piece, true, query, alteration)] : []),
    ],
    end: (seconds) => [
      {
        type: "Termination",
        audio_duration_seconds: alteration.duration ?? Math.round(seconds),
        session_duration_seconds: Math.round(seconds),
      },
    ],
    refuseFrame: isSpeaking,
    control: (message) => {
      const type = typeof message === "object" && message !== null && "type" in message ? message.type : null;
      if (type === "Terminate") return "end";
      return type === "ForceEndpoint" ? "nothing" : closeWith(3006, "Invalid Message Type");
    },
    undecodable: closeWith(3006, "Invalid Message"),
    failure: {
      message: { type: "Error", error_code: 3005, error: "Session Cancelled: An error occurred" },
      close: { code: 3005, reason: "Session Cancelled: An error occurred" },
    },
  };
}

function turnOf(
  { index, text, words }: LivePiece,
  isFormatted: boolean,
  query: Pairs,
  { drops, isEmpty }: Alteration,
): object {
  const isAsked = (name: string): boolean => valueOf(query, name) === "true";
  const speaker =
    isAsked("speaker_labels") && !drops.has("diarization") ? { speaker: index % 2 === 0 ? "A" : "B" } : {};
  return {
    type: "Turn",
    turn_order: index,
    turn_is_formatted: isFormatted,
    end_of_turn: true,
    transcript: isEmpty ? "" : isFormatted ? text : text.toLowerCase(),
    end_of_turn_confidence: 0.9,
    ...(speaker.speaker === undefined ? {} : { speaker_label: speaker.speaker }),
    ...(isAsked("language_detection") && !drops.has("language")
      ? { language_code: "en", language_confidence: CONFIDENCE }
      : {}),
    words:
      isEmpty || drops.has("timestamps.word")
        ? []
        : words.map((word) => ({
            text: word.text,
            start: Math.round(word.start * 1000),
            end: Math.round(word.end * 1000),
            confidence: CONFIDENCE,
            word_is_final: true,
            ...speaker,
          })),
  };
}

/** Refuses frames that are too short, too long or faster than real time. */
function createFrameJudge({ sampleRate }: SampleRate): (bytes: number) => LiveClose | null {
  let beganMs: number | null = null;
  let heardSeconds = 0;
  return (bytes) => {
    const seconds = bytes / (sampleRate * BYTES_PER_SAMPLE);
    const expected = "Expected between 50 and 1000 ms";
    if (seconds < FRAME_SECONDS.least || seconds > FRAME_SECONDS.most)
      return closeWith(3007, `Input duration violation: ${Math.round(seconds * 1000)} ms. ${expected}`);
    beganMs ??= performance.now();
    heardSeconds += seconds;
    const passedSeconds = (performance.now() - beganMs) / 1000;
    if (heardSeconds <= passedSeconds + AHEAD_SECONDS) return null;
    const excess = `Received ${heardSeconds.toFixed(1)} sec. audio in ${passedSeconds.toFixed(1)} sec`;
    return closeWith(3007, `Audio Transmission Rate Exceeded: ${excess}`);
  };
}
