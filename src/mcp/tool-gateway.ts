// What the tools of a model ask a gateway through: each transport brings its own, and both end at the public API.
import type { EndpointMethod } from "../contract/endpoint.ts";

export interface ToolCall {
  /** GET unless given. */
  readonly method?: EndpointMethod;
  readonly path: string;
  /** JSON unless given. */
  readonly accept?: string;
}

export interface ToolAnswer {
  readonly text: string;
  readonly requestId: string | null;
  /** What stands in it is the sandbox's: nothing was recognised. */
  readonly isSimulated: boolean;
}

/** A recording as a tool's caller names it, with the fields of the request. */
export type Recording = Readonly<Record<string, unknown>> & {
  /** On the machine of the tools; only where `readsFiles`. */
  readonly path?: string | undefined;
  readonly url?: string | undefined;
};

export interface ToolGateway {
  /** Whether a recording may be named by its path. */
  readonly readsFiles: boolean;
  readonly version: string;
  /** A refusal is thrown as `Refused`. */
  /** JSON of an answer; rejects where it is none. */
  readonly parse: (text: string, signal: AbortSignal) => Promise<unknown>;
  readonly ask: (call: ToolCall, signal: AbortSignal) => Promise<ToolAnswer>;
  readonly send: (path: string, recording: Recording, signal: AbortSignal) => Promise<ToolAnswer>;
  /** What is told of anything else that was thrown. */
  readonly onFault: (error: unknown) => string;
}

/** What the gateway would not do: its own words, and what to do about it, for the model to act on. */
export class Refused extends Error {
  constructor(lines: readonly string[], options?: ErrorOptions) {
    super(lines.join("\n"), options);
    this.name = "Refused";
  }
}
