// An adapter's `Io` on one account: its base URL, its secret, the attempt's deadline, and failures by kind (contract 1).
import { setTimeout as wait } from "node:timers/promises";
import { type Outbound, OutboundError } from "../outbound/dial.ts";
import { type FailureKind, type Io, ProviderError, type RemoteRun, type WireReply, type WireRequest } from "./io.ts";

export interface IoOptions {
  readonly outbound: Outbound;
  /** What precedes the provider's documented path; with or without a slash at its end. */
  readonly baseUrl: string;
  readonly credential: string | null;
  /** Aborts when the caller's work is to stop. */
  readonly signal: AbortSignal;
  /** For each request, from `send` to the last byte of its reply. */
  readonly deadlineMs: number;
  /** Called as the first byte of a request leaves. */
  readonly onDispatch?: () => void;
  readonly onRemoteRun?: (run: RemoteRun) => Promise<void>;
}

export function createIo(options: IoOptions): Io {
  const endsAtMs = Date.now() + options.deadlineMs;
  return {
    credential: options.credential,
    send: (request) => send(request, options),
    onRemoteRun: async (run) => options.onRemoteRun?.(run),
    pause: async (milliseconds) => {
      const leftMs = endsAtMs - Date.now();
      try {
        await wait(Math.min(milliseconds, Math.max(0, leftMs)), undefined, { signal: options.signal });
      } catch {
        throw new ProviderError("aborted");
      }
      if (milliseconds >= leftMs) throw new ProviderError("timeout");
    },
  };
}

async function send(request: WireRequest, options: IoOptions): Promise<WireReply> {
  try {
    return await options.outbound.exchange({
      trust: "operator",
      method: request.method,
      url: urlOf(options.baseUrl, request),
      headers: { accept: "application/json", "user-agent": "patchbay", ...request.headers },
      signal: options.signal,
      timeoutMs: options.deadlineMs,
      ...(request.body === undefined ? {} : { body: request.body }),
      ...(options.onDispatch === undefined ? {} : { onDispatch: options.onDispatch }),
    });
  } catch (error) {
    // No `cause`: the client's errors may hold raw bytes of the reply.
    if (error instanceof OutboundError) throw new ProviderError(kindOf(error), { reason: error.reason ?? undefined });
    throw error;
  }
}

function kindOf(error: OutboundError): FailureKind {
  if (error.failure === "aborted") return "aborted";
  if (!error.dispatched) return "connect";
  switch (error.failure) {
    case "connection":
      return "unknown";
    case "timeout":
      return "timeout";
    case "reply_too_large":
      return "bad_reply";
  }
}

function urlOf(baseUrl: string, request: WireRequest): URL {
  const query = (request.query ?? []).map((pair) => pair.map(encodeURIComponent).join("="));
  const search = query.length === 0 ? "" : `?${query.join("&")}`;
  return new URL(`${baseUrl.replace(/\/+$/, "")}${request.path}${search}`);
}
