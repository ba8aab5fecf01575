// Chooses the Idempotency-Key of a request: after a broken connection the request may have been billed, so its key is reused.
import type { Failure, Outcome } from "../page/ask.ts";
import { newIdempotencyKey } from "../page/idempotency-key.ts";
import type { Asked } from "./api.ts";

export function isSame(one: Asked, other: Asked | undefined): boolean {
  return (
    one.key === other?.key && one.audio === other.audio && JSON.stringify(one.entries) === JSON.stringify(other.entries)
  );
}

/** Whether a retry may succeed or find the stored answer. */
export const mayPass = (failure: Failure): boolean =>
  failure.kind === "refused" ? failure.error.retryable : failure.kind !== "unsendable";

/** The cost of a retry. Empty: nothing to mention. */
export function costText(failure: Failure): string {
  if (!mayPass(failure)) return "";
  const fate = failure.kind === "cancelled" ? "If it reached the gateway, it continues there and is charged. " : "";
  return `${fate}If you repeat it unchanged within 24 hours, it is not charged twice.`;
}

export interface PaidOnce {
  readonly keyFor: (asked: Asked) => string;
  /** Records the outcome of the request with the latest key. */
  readonly ended: (outcome: Outcome<unknown>) => void;
}

export function payOnce(): PaidOnce {
  let open: { readonly asked: Asked; readonly idempotencyKey: string } | null = null;
  return {
    keyFor: (asked) => {
      if (open === null || !isSame(asked, open.asked))
        open = { asked, idempotencyKey: newIdempotencyKey("playground") };
      return open.idempotencyKey;
    },
    ended: (outcome) => {
      if (outcome.ok || !mayPass(outcome.failure)) open = null;
    },
  };
}
