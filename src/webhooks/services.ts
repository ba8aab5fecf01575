// The dependencies of the functions of `webhooks/`, created once in `compose/app.ts`, and the interface to receivers.
import type { Queue } from "../queue/queue.ts";
import type { Database, systemAccess } from "../storage/database.ts";
import type { Seal } from "../storage/secrets/seal.ts";
import type { DeliveryWrites } from "./delivery-writes.ts";

export interface WebhookServices {
  readonly database: Pick<Database, typeof systemAccess | "inWorkspace">;
  readonly seal: Seal;
  readonly queue: Pick<Queue, "send" | "sendAll">;
  readonly writes: DeliveryWrites;
  readonly receivers: Receivers;
  /** From the first packet to the last byte that is read of the response. */
  readonly timeoutMs: number;
  readonly nowMs: () => number;
  /** Called with the outcome of each attempt. */
  readonly onAttempt?: (outcome: string) => void;
}

/** Outbound connections, guarded by the address rules [webhooks.url-rules]. */
export interface Receivers {
  /** Explains to the owner why deliveries to this URL are not allowed. Null: they are. */
  refusal(url: string): Promise<string | null>;
  /** Reports failures of the receiver or the network as a value, not as an error. */
  post(request: ReceiverRequest): Promise<ReceiverAnswer>;
}

export interface ReceiverRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly timeoutMs: number;
  /** Aborts when the process stops. Then `post` throws. */
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
