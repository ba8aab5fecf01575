// A delivery and its webhook as a batch has locked them, with the changes that the batch has decided so far, so that each decision sees the earlier ones.
import type { LockedDelivery, LockedWebhook } from "./store/lock-deliveries.ts";

export type EndedBy = NonNullable<LockedDelivery["ended_by"]>;

export interface DeliveryState {
  readonly row: LockedDelivery;
  readonly turn: number;
  readonly state: LockedDelivery["state"];
  readonly attemptsMade: number;
  readonly attemptsTotal: number;
  readonly endedBy: EndedBy | null;
  readonly isClaimed: boolean;
  /** From now to the next attempt. Null: as before. */
  readonly nextInSeconds: number | null;
}

export interface WebhookState {
  readonly row: LockedWebhook;
  readonly isEnabled: boolean;
  readonly failing: "no" | "from_now_on" | "since_earlier";
  /** With the address of the attempt that disabled it, for the audit log. */
  readonly disabled: { readonly reason: "gone" | "failing"; readonly url: string } | null;
}

export function deliveryStateOf(row: LockedDelivery): DeliveryState {
  return {
    row,
    turn: row.turn,
    state: row.state,
    attemptsMade: row.attempts_made,
    attemptsTotal: row.attempts_total,
    endedBy: row.ended_by,
    isClaimed: row.is_claimed,
    nextInSeconds: null,
  };
}

export function webhookStateOf(row: LockedWebhook): WebhookState {
  return {
    row,
    isEnabled: row.enabled,
    failing: row.failing_since === null ? "no" : "since_earlier",
    disabled: null,
  };
}

/** Null `endedBy`: it was delivered. */
export function ended(delivery: DeliveryState, endedBy: EndedBy | null): DeliveryState {
  return { ...delivery, state: endedBy === null ? "delivered" : "failed", endedBy, isClaimed: false };
}
