// What a provider's socket supplies to the sandbox's server, and what the sandbox "hears" while it listens: which seconds were sent,
// and nothing else [providers.sandbox-honest].
import type { IncomingHttpHeaders } from "node:http";
import { milliseconds } from "./simulate.ts";
import type { Alteration, Pairs, WireAnswer, WireName } from "./wire.ts";

/** Seconds of audio between two results. */
export const PIECE_SECONDS = 2;

export interface LivePiece {
  readonly index: number;
  readonly text: string;
  readonly start: number;
  readonly end: number;
  readonly words: readonly { readonly text: string; readonly start: number; readonly end: number }[];
}

/** Bare samples say by the query what they are; of a container the server finds out. */
export interface SampleRate {
  readonly sampleRate: number;
  readonly channels: number;
}

export interface LiveInput {
  readonly requestId: string;
  readonly headers: IncomingHttpHeaders;
  readonly query: Pairs;
}

export interface LiveSession {
  /** null: a container. */
  readonly samples: SampleRate | null;
  readonly headers: Readonly<Record<string, string>>;
  /** The door is opened, and closed again with this. */
  readonly refusal?: LiveClose;
  readonly begin: () => readonly object[];
  readonly piece: (piece: LivePiece, channels: number) => readonly object[];
  readonly end: (seconds: number, channels: number) => readonly object[];
  /** Why a frame of audio is refused, as a close. */
  readonly refuseFrame?: (bytes: number) => LiveClose | null;
  /** What a text frame asks for; a close when it is not understood. */
  readonly control: (message: unknown) => "end" | "nothing" | LiveClose;
  /** What was sent cannot be decoded. */
  readonly undecodable: LiveClose;
  /** How this wire says in the middle that it failed. */
  readonly failure: { readonly message: object | null; readonly close: LiveClose };
}

export interface LiveClose {
  readonly code: number;
  readonly reason: string;
  /** Said before it. */
  readonly message?: object;
}

export interface LiveWire {
  readonly name: WireName;
  /** The query parameter that names the model. */
  readonly modelParameter: string;
  readonly errorFor: (status: number, requestId: string) => WireAnswer;
  /** A refusal is an answer of HTTP, in the place of the upgrade. */
  readonly open: (
    input: LiveInput,
    alteration: Alteration,
  ) => { readonly ok: true; readonly session: LiveSession } | { readonly ok: false; readonly answer: WireAnswer };
}

export function heardPiece(index: number, start: number, end: number): LivePiece {
  const text = `[simulated, ${start.toFixed(1)} s to ${end.toFixed(1)} s]`;
  const tokens = text.split(" ");
  const each = (end - start) / tokens.length;
  return {
    index,
    text,
    start: milliseconds(start),
    end: milliseconds(end),
    words: tokens.map((token, at) => ({
      text: token,
      start: milliseconds(start + at * each),
      end: milliseconds(start + (at + 1) * each),
    })),
  };
}
