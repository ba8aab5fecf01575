// The interface of a simulated streaming protocol, and its simulated results: which seconds were sent, never invented speech [providers.sandbox-honest].
import type { IncomingHttpHeaders } from "node:http";
import { milliseconds } from "../simulate.ts";
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

/** PCM is described by the query. The server detects the format of a container. */
export interface SampleRate {
  readonly sampleRate: number;
  readonly channels: number;
}

export interface LiveInput {
  readonly requestId: string;
  /** When the socket was opened, by the sandbox's clock. */
  readonly nowMs: number;
  readonly headers: IncomingHttpHeaders;
  readonly query: Pairs;
}

export interface LiveSession {
  /** Null: a container. */
  readonly samples: SampleRate | null;
  readonly headers: Readonly<Record<string, string>>;
  /** The upgrade succeeds and the socket is then closed with this. */
  readonly refusal?: LiveClose;
  readonly begin: () => readonly object[];
  readonly piece: (piece: LivePiece, channels: number) => readonly object[];
  readonly end: (seconds: number, channels: number) => readonly object[];
  /** The close for a refused audio frame. */
  readonly refuseFrame?: (bytes: number) => LiveClose | null;
  /** The meaning of a text frame, or a close if it is invalid. */
  readonly control: (message: unknown) => LiveCommand | LiveClose;
  /** The faults of a model that only the configuration names. */
  readonly alter?: (alteration: Alteration) => void;
  /** Of a protocol whose client commits the audio and ends the session: the answer to a commit of so many seconds. */
  readonly commit?: (seconds: number) => readonly object[];
  /** The client closes the connection after the end. */
  readonly staysOpen?: true;
  /** The close for audio that cannot be decoded. */
  readonly undecodable: LiveClose;
  /** How this protocol reports an error in the middle of a session. */
  readonly failure: { readonly message: object | null; readonly close: LiveClose };
}

export type LiveCommand =
  | "end"
  | "nothing"
  | LiveAudio
  /** An answer. A configuration reports its model, which the query does not have, and is recorded. */
  | { readonly say: readonly object[]; readonly model?: string; readonly session?: object };

/** Audio inside a text frame. */
export interface LiveAudio {
  readonly audio: Uint8Array;
  /** The audio so far is answered by `commit`. */
  readonly isCommit?: boolean;
}

export interface LiveClose {
  readonly code: number;
  readonly reason: string;
  /** Sent before the close. */
  readonly message?: object;
}

export interface LiveWire {
  readonly name: WireName;
  /** The query parameter that contains the model. Null: the configuration does. */
  readonly modelParameter: string | null;
  readonly errorFor: (status: number, requestId: string) => WireAnswer;
  /** A refusal is an HTTP reply instead of the upgrade. */
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
