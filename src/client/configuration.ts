// The options of a client and their defaults, partly from the same environment variables as the command line.
import { wait } from "./deadline.ts";

export interface PatchbayOptions {
  /** API key of an app. Default: `PATCHBAY_API_KEY`. */
  readonly apiKey?: string | undefined;
  /** Address of the gateway. Default: `PATCHBAY_URL`, else http://127.0.0.1:8080. */
  readonly baseUrl?: string | undefined;
  /** Time limit of a call in ms, including retries and the last event of a stream. Default: 600,000. */
  readonly timeoutMs?: number | undefined;
  /** Maximum number of retries of a call. Default: 2. */
  readonly maxRetries?: number | undefined;
  /** Replaces the platform's `fetch`. */
  readonly fetch?: typeof globalThis.fetch | undefined;
  /** Waits between two tries; replaced in tests. */
  readonly wait?: ((delayMs: number, signal: AbortSignal) => Promise<void>) | undefined;
  /** Returns 0 to 1 for the jitter of those delays; replaced in tests. */
  readonly random?: (() => number) | undefined;
}

/** Options of one call. */
export interface CallOptions {
  /** Aborts the call, which then throws the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs?: number | undefined;
  readonly maxRetries?: number | undefined;
}

/** Options of one call that may be billed. */
export interface PaidCallOptions extends CallOptions {
  /**
   * 1 to 255 visible ASCII characters. Default: a new key for each call. With a key, the work continues after an abort and its answer is stored. With null, an
   * abort ends the work, and a request is retried only if a quota refused it.
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
  // Not quoted: it may be a key with something pasted behind it.
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
    // Looked up at each call, and called as a plain function: browsers refuse it as a method of another object.
    fetch: options.fetch ?? ((input, init) => globalThis.fetch(input, init)),
    wait: options.wait ?? wait,
    random,
  };
}

/** Keeps the path prefix under which the gateway is mounted. */
function withoutSlash(address: string): string {
  const url = new URL(address);
  const { protocol, username, password, search, hash } = url;
  if (!/^https?:$/.test(protocol) || `${username}${password}${search}${hash}` !== "")
    throw new TypeError(
      "Patchbay's `baseUrl` must start with http:// or https:// and contain no credentials, query or fragment.",
    );
  // `href` would keep the mark of an empty query or fragment.
  return `${url.origin}${url.pathname}`.replace(/\/+$/, "");
}

/** Undefined if there is no readable environment, or if the variable is empty. */
function variable(name: string): string | undefined {
  const { process } = globalThis as { readonly process?: { readonly env?: Readonly<Record<string, string>> } };
  const value = process?.env?.[name];
  return value === "" ? undefined : value;
}
