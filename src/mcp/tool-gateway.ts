// The interface through which the MCP tools call a gateway. Each transport (stdin and stdout, HTTP) implements it, and both call the public API.
import type { EndpointMethod } from "../contract/endpoints/endpoint.ts";

export interface ToolCall {
  /** Default: GET. */
  readonly method?: EndpointMethod;
  readonly path: string;
  /** Default: JSON. */
  readonly accept?: string;
}

export interface ToolAnswer {
  readonly text: string;
  readonly requestId: string | null;
  /** The answer comes from the sandbox: no speech was recognised. */
  readonly isSimulated: boolean;
}

/** A recording as the user of a tool names it, with the fields of the request. */
export type Recording = Readonly<Record<string, unknown>> & {
  /** A path on the machine of the tools; only if `readsFiles`. */
  readonly path?: string | undefined;
  readonly url?: string | undefined;
};

export interface ToolGateway {
  /** Whether a recording may be named by its path. */
  readonly readsFiles: boolean;
  readonly version: string;
  /** Throws a refusal as `RefusedToolCall`. */
  /** Parses the JSON of an answer; rejects if it is invalid. */
  readonly parse: (text: string, signal: AbortSignal) => Promise<unknown>;
  readonly ask: (call: ToolCall, signal: AbortSignal) => Promise<ToolAnswer>;
  readonly send: (path: string, recording: Recording, signal: AbortSignal) => Promise<ToolAnswer>;
  /** The message for any other thrown error. */
  readonly onFault: (error: unknown) => string;
}

/** A refusal by the gateway, in its own words with what to do about it, for the model to act on. */
export class RefusedToolCall extends Error {
  constructor(lines: readonly string[], options?: ErrorOptions) {
    super(lines.join("\n"), options);
    this.name = "Refused";
  }
}
