// The interface of a simulated protocol: what it provides to the sandbox's server, and what it receives to judge a request.
import type { IncomingHttpHeaders } from "node:http";
import type { ReceivedFile } from "./multipart-reader.ts";
import type { AudioFacts } from "./measure-audio.ts";

export const WIRE_NAMES = [
  "deepgram",
  "openai",
  "compatible",
  "assemblyai",
  "elevenlabs",
  "gemini",
  "google-speech",
  "anthropic",
] as const;
export type WireName = (typeof WIRE_NAMES)[number];

export const DROPPABLE = [
  "diarization",
  "timestamps.word",
  "timestamps.segment",
  "multichannel",
  "language",
  "model",
  "redaction",
  "keyterms",
  "profanity_filter",
  "tool_calls",
  "response_format",
  "usage",
] as const;
export type Droppable = (typeof DROPPABLE)[number];

/** How faults change an otherwise correct answer. */
export interface Alteration {
  readonly drops: ReadonlySet<Droppable>;
  readonly isEmpty: boolean;
  /** Chat: the answer is withheld by a content filter, or has this size. */
  readonly isWithheld: boolean;
  readonly hugeBytes: number | null;
  readonly duration: number | "NaN" | null;
  /** Polled runs: how many polls find the run unfinished, and what it then fails with. */
  readonly unfinishedPolls: number;
  readonly runError: string | null;
  /** The model that answers under the name of the asked one. */
  readonly otherModel: string | null;
}

/** The requests of a run, for providers with asynchronous runs, and credential tests. Most protocols have only `submit`. */
export const STEPS = ["token", "upload", "submit", "poll", "remove", "probe"] as const;
export type Step = (typeof STEPS)[number];

export interface WireAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** A list, or events, are sent piece by piece without a declared length (server-sent events). */
  readonly body: string | readonly string[] | EventBody;
}

/** A streamed answer in parts, so that faults can break it at any part. */
export interface EventBody {
  readonly head: readonly string[];
  readonly contents: readonly string[];
  readonly end: readonly string[];
  /** How this protocol reports an error in the middle of a stream. */
  readonly failure: string;
}

export type Pairs = readonly (readonly [string, string])[];

/** Why a body cannot be read. Each protocol has its own message for it. */
export type BodyDefect = "too_large" | "not_multipart" | "malformed_multipart";

export interface WireInput {
  readonly requestId: string;
  /** The sandbox's clock, by which models retire. */
  readonly nowMs: number;
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly query: Pairs;
  readonly fields: Pairs;
  readonly file: ReceivedFile | null;
  /** The body of a JSON protocol. Undefined: not JSON. */
  readonly json: unknown;
  readonly bodyBytes: number;
  readonly defect: BodyDefect | null;
  /** Measured at most once, on demand. */
  readonly measure: () => Promise<AudioFacts>;
}

export interface InlineAudio {
  readonly base64: string;
  readonly contentType: string;
}

export interface Wire {
  readonly name: WireName;
  /** Default: `submit`, which is also the step of a fault rule without one. */
  readonly step?: Step;
  readonly body: "raw" | "multipart" | "json" | "none";
  /** The form field that contains the model, for fault rules. Default: `model`. */
  readonly modelField?: string;
  /** Reads the model from a JSON body or a path. */
  readonly modelOf?: (input: Pick<WireInput, "json" | "path">) => string;
  /** Extracts the audio of a JSON body, which is spooled and measured like any other. */
  readonly audioOf?: (json: unknown) => InlineAudio | null;
  readonly maxBodyBytes: number;
  /** The provider's own error for a status, used by status faults. */
  readonly errorFor: (status: number, requestId: string) => WireAnswer;
  readonly answer: (input: WireInput, alteration: Alteration) => Promise<WireAnswer>;
}

export const jsonAnswer = (
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): WireAnswer => ({
  status,
  headers: { "content-type": "application/json", ...headers },
  body: JSON.stringify(body),
});

/** Reads the model where most JSON bodies have it. */
export function modelInBody(json: unknown): string {
  const model = typeof json === "object" && json !== null && "model" in json ? json.model : "";
  return typeof model === "string" ? model : "";
}

/** The id in a path. */
export const lastSegment = (path: string): string => decodeURIComponent(path.split("/").at(-1) ?? "");

/** Undefined: not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

export const valuesOf = (pairs: Pairs, name: string): string[] =>
  pairs.filter(([key]) => key === name).map(([, value]) => value);
export const valueOf = (pairs: Pairs, name: string): string | null => valuesOf(pairs, name).at(-1) ?? null;
