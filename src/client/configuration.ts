// What a client is made with, and what stands in for what is not given: the environment's variables, as for the command line.
import { wait } from "./deadline.ts";

export interface PatchbayOptions {
  /** A key of an app; `PATCHBAY_API_KEY` unless given. */
  readonly apiKey?: string | undefined;
  /** Of the gateway; `PATCHBAY_URL`, else http://127.0.0.1:8080, unless given. */
  readonly baseUrl?: string | undefined;
  /** How long a call may take, its retries and the last event of a stream included; 600,000 unless given. */
  readonly timeoutMs?: number | undefined;
  /** How often at most a call is sent again; 2 unless given. */
  readonly maxRetries?: number | undefined;
  /** In the place of the platform's own. */
  readonly fetch?: typeof globalThis.fetch | undefined;
  /** How time passes between two tries; for tests. */
  readonly wait?: ((delayMs: number, signal: AbortSignal) => Promise<void>) | undefined;
  /** From 0 to 1, for the jitter of those delays; for tests. */
  readonly random?: (() => number) | undefined;
}

/** Of one call. */
export interface CallOptions {
  /** Ends the call; its reason is what is thrown. */
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs?: number | undefined;
  readonly maxRetries?: number | undefined;
}

/** Of one call that may be paid for. */
export interface PaidCallOptions extends CallOptions {
  /**
   * 1 to 255 visible ASCII characters; made anew for each call unless given. Under a key the work goes on when the call is aborted, and
   * its answer is kept. With null there is none: an abort ends the work, and nothing but what a quota refused is sent again.
   */
  readonly idempotencyKey?: string | null | undefined;
}

export interface ClientConfiguration {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly timeoutMs: number;
  readonly maxRetries: number;
  readonly fetch: typeof globalThis.fetch;
  readonly wait: (delayMs: number, signal: AbortSignal) => Promise<void>;
  readonly random: () => number;
}

export function configurationOf(options: PatchbayOptions): ClientConfiguration {
  const apiKey = options.apiKey ?? variable("PATCHBAY_API_KEY") ?? "";
  // Not to be quoted: it may be a key with something pasted behind it.
  if (!/^[\x21-\x7e]+$/.test(apiKey))
    throw new TypeError(
      "Patchbay needs an API key without spaces or line ends: `apiKey`, or PATCHBAY_API_KEY in the environment.",
    );
  const { timeoutMs = 600_000, maxRetries = 2, random = Math.random } = options;
  return {
    baseUrl: withoutSlash(options.baseUrl ?? variable("PATCHBAY_URL") ?? "http://127.0.0.1:8080"),
    apiKey,
    timeoutMs,
    maxRetries,
    // Looked up when it is called, and called by itself: browsers refuse it as a method of something else.
    fetch: options.fetch ?? ((input, init) => globalThis.fetch(input, init)),
    wait: options.wait ?? wait,
    random,
  };
}

/** Whatever path the gateway itself is mounted at stays before its own. */
function withoutSlash(address: string): string {
  const url = new URL(address);
  const { protocol, username, password, search, hash } = url;
  if (!/^https?:$/.test(protocol) || `${username}${password}${search}${hash}` !== "")
    throw new TypeError("Patchbay's `baseUrl` must begin with http:// or https:// and be an address alone.");
  // An empty query or fragment stands in `href` all the same.
  return `${url.origin}${url.pathname}`.replace(/\/+$/, "");
}

/** Where there is an environment that may be read; an empty text counts as none. */
function variable(name: string): string | undefined {
  const { process } = globalThis as { readonly process?: { readonly env?: Readonly<Record<string, string>> } };
  const value = process?.env?.[name];
  return value === "" ? undefined : value;
}
