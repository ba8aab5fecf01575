// What the verbs of this room need from the outside, made once in `app.ts` and handed in as their first argument.
import type { Queue } from "../queue/queue.ts";
import type { Database } from "../storage/database.ts";
import type { Seal } from "../storage/seal.ts";

export interface WebhookServices {
  readonly database: Pick<Database, "db" | "transaction" | "inWorkspace">;
  readonly seal: Seal;
  readonly queue: Pick<Queue, "send">;
  readonly receivers: Receivers;
  /** For one event, or for one redelivery by hand. */
  readonly maxAttempts: number;
  /** From the first packet to the last byte of the answer that is read. */
  readonly timeoutMs: number;
  readonly nowMs: () => number;
  /** Hears how each attempt went. */
  readonly onAttempt?: (outcome: string) => void;
  /** From 0 to 1. */
  readonly random: () => number;
}

/** Outbound connections, guarded by the address rules [webhooks.url-rules]. */
export interface Receivers {
  /** Why this URL may not be delivered to, for its owner; null when it may. */
  refusal(url: string): Promise<string | null>;
  /** Never throws for what a receiver or the network does. */
  post(request: ReceiverRequest): Promise<ReceiverAnswer>;
}

export interface ReceiverRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly timeoutMs: number;
  /** The process stops: then it throws. */
  readonly signal?: AbortSignal | undefined;
}

export type ReceiverAnswer =
  | {
      readonly kind: "answer";
      readonly statusCode: number;
      readonly retryAfter: string | undefined;
      /** The beginning of the body, never decompressed. */
      readonly bodyStart: string;
    }
  | { readonly kind: "timeout" | "connection" | "tls" | "address_not_allowed" };
