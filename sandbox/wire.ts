// What a wire format supplies to the sandbox's server, and what it gets to judge a request by (contract.md section 10).
import type { IncomingHttpHeaders } from "node:http";
import type { ReceivedFile } from "./multipart-reader.ts";
import type { AudioFacts } from "./measure-audio.ts";

export const WIRE_NAMES = ["deepgram", "openai", "compatible"] as const;
export type WireName = (typeof WIRE_NAMES)[number];

export const DROPPABLE = [
  "diarization",
  "timestamps.word",
  "timestamps.segment",
  "multichannel",
  "language",
  "model",
] as const;
export type Droppable = (typeof DROPPABLE)[number];

/** How faults bend an otherwise correct answer. */
export interface Alteration {
  readonly drops: ReadonlySet<Droppable>;
  readonly isEmpty: boolean;
  readonly duration: number | "NaN" | null;
}

export interface WireAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** A list is sent piece by piece without a declared length (server-sent events). */
  readonly body: string | readonly string[];
}

export type Pairs = readonly (readonly [string, string])[];

/** Why a body could not be taken; each wire has its own words for it. */
export type BodyDefect = "too_large" | "not_multipart" | "malformed_multipart";

export interface WireInput {
  readonly requestId: string;
  readonly headers: IncomingHttpHeaders;
  readonly query: Pairs;
  readonly fields: Pairs;
  readonly file: ReceivedFile | null;
  readonly bodyBytes: number;
  readonly defect: BodyDefect | null;
  /** Measured at most once, when a wire asks for it. */
  readonly measure: () => Promise<AudioFacts>;
}

export interface Wire {
  readonly name: WireName;
  readonly body: "raw" | "multipart";
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

export const valuesOf = (pairs: Pairs, name: string): string[] =>
  pairs.filter(([key]) => key === name).map(([, value]) => value);
export const valueOf = (pairs: Pairs, name: string): string | null => valuesOf(pairs, name).at(-1) ?? null;
