// What a provider's protocol supplies to the sandbox's server, and what it gets to judge a request by.
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

/** How faults bend an otherwise correct answer. */
export interface Alteration {
  readonly drops: ReadonlySet<Droppable>;
  readonly isEmpty: boolean;
  /** A chat answer that a filter withholds, and one this long. */
  readonly isWithheld: boolean;
  readonly hugeBytes: number | null;
  readonly duration: number | "NaN" | null;
  /** Of a run that is polled: how many polls find it unfinished, and what it then fails with. */
  readonly unfinishedPolls: number;
  readonly runError: string | null;
}

/** The requests of a run, for providers that take a submission, and what tries a credential; most have `submit` and that alone. */
export const STEPS = ["token", "upload", "submit", "poll", "remove", "probe"] as const;
export type Step = (typeof STEPS)[number];

export interface WireAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** A list, or events, are sent piece by piece without a declared length (server-sent events). */
  readonly body: string | readonly string[] | EventBody;
}

/** A streamed answer in its parts, so that faults can break it where it hurts. */
export interface EventBody {
  readonly head: readonly string[];
  readonly contents: readonly string[];
  readonly end: readonly string[];
  /** How this wire says in the middle of a stream that it failed. */
  readonly failure: string;
}

export type Pairs = readonly (readonly [string, string])[];

/** Why a body could not be taken; each wire has its own words for it. */
export type BodyDefect = "too_large" | "not_multipart" | "malformed_multipart";

export interface WireInput {
  readonly requestId: string;
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly query: Pairs;
  readonly fields: Pairs;
  readonly file: ReceivedFile | null;
  /** The body of a wire that takes JSON; undefined when it is none. */
  readonly json: unknown;
  readonly bodyBytes: number;
  readonly defect: BodyDefect | null;
  /** Measured at most once, when a wire asks for it. */
  readonly measure: () => Promise<AudioFacts>;
}

export interface InlineAudio {
  readonly base64: string;
  readonly contentType: string;
}

export interface Wire {
  readonly name: WireName;
  /** `submit` unless named: a fault rule without a step concerns that one. */
  readonly step?: Step;
  readonly body: "raw" | "multipart" | "json" | "none";
  /** The form field that names the model, for fault rules; `model` unless named. */
  readonly modelField?: string;
  /** Where a JSON body or a path names it. */
  readonly modelOf?: (input: Pick<WireInput, "json" | "path">) => string;
  /** Where a JSON body has its audio; it is spooled and measured like any other. */
  readonly audioOf?: (json: unknown) => InlineAudio | null;
  readonly maxBodyBytes: number;
  /** The provider's own error for a status, for status faults. */
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

/** As most JSON bodies name their model. */
export function modelInBody(json: unknown): string {
  const model = typeof json === "object" && json !== null && "model" in json ? json.model : "";
  return typeof model === "string" ? model : "";
}

/** The id of what a path is about. */
export const lastSegment = (path: string): string => decodeURIComponent(path.split("/").at(-1) ?? "");

/** Undefined: it is none. */
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
