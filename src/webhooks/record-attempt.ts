// Decides what an attempt changes: the delivery's state, the receiver's health, and when the next attempt is due. If the process dies before this is stored,
// the attempt is repeated under the same event id [webhooks.at-least-once]. Pure.
import { type Attempted, isGone, isThrottled } from "./attempted.ts";
import type { ClaimedDelivery } from "./claim.ts";
import { type DeliveryState, ended, type WebhookState } from "./delivery-state.ts";
import { nextDelaySeconds } from "./schedule.ts";
import { isSameSetting } from "./webhook-row.ts";

export interface RetryRules {
  /** Maximum attempts per event, or per manual redelivery. */
  readonly maxAttempts: number;
  /** From 0 to 1. */
  readonly random: () => number;
}

export interface MadeAttempt {
  readonly delivery: ClaimedDelivery;
  readonly attempt: Attempted;
}

export interface Recorded {
  readonly delivery: DeliveryState;
  readonly webhook: WebhookState | undefined;
}

export function recordAttempt(rules: RetryRules, made: MadeAttempt, { delivery: before, webhook }: Recorded): Recorded {
  const { message } = made.delivery;
  const isTurn = before.turn === message.turn;
  const delivery: DeliveryState = {
    ...before,
    attemptsTotal: before.attemptsTotal + 1,
    // An attempt that a redelivery superseded does not count in the new series of attempts.
    attemptsMade: before.attemptsMade + (isTurn ? 1 : 0),
    isClaimed: false,
  };
  const isSame = webhook !== undefined && isSameSetting(webhook.row, made.delivery.webhook);
  const after = isSame ? healthAfter(webhook, made) : webhook;
  // A manual redelivery took over, and decides what becomes of the delivery.
  if (!isTurn || delivery.state !== "pending") return { delivery, webhook: after };
  const isDisabled = after?.disabled !== webhook?.disabled;
  return { delivery: outcomeOf(rules, made, delivery, { isSame, isDisabled }), webhook: after };
}

/** A failed test changes nothing: it only shows the owner the receiver's state. */
function healthAfter(webhook: WebhookState, { delivery, attempt }: MadeAttempt): WebhookState {
  if (attempt.outcome === "delivered") return webhook.failing === "no" ? webhook : { ...webhook, failing: "no" };
  if (delivery.isTest || !webhook.isEnabled) return webhook;
  const failing = webhook.failing === "no" ? "from_now_on" : webhook.failing;
  const isOver = failing === "since_earlier" && webhook.row.is_failing_long;
  if (!isGone(attempt) && !isOver) return { ...webhook, failing };
  const reason = isGone(attempt) ? "gone" : "failing";
  return { ...webhook, failing, isEnabled: false, disabled: { reason, url: delivery.url } };
}

function outcomeOf(
  rules: RetryRules,
  { delivery: { message, isTest }, attempt }: MadeAttempt,
  delivery: DeliveryState,
  { isSame, isDisabled }: { readonly isSame: boolean; readonly isDisabled: boolean },
): DeliveryState {
  if (attempt.outcome === "delivered") return ended(delivery, null);
  if (isSame && isGone(attempt)) return ended(delivery, "gone");
  if (isDisabled) return ended(delivery, "disabled");
  const nextInSeconds = nextDelaySeconds({
    made: delivery.attemptsMade,
    maxAttempts: isTest ? 1 : rules.maxAttempts,
    isThrottled: isThrottled(attempt),
    retryAfterSeconds: attempt.retryAfterSeconds,
    random: rules.random(),
  });
  if (nextInSeconds === null) return ended(delivery, "attempts");
  return { ...delivery, turn: message.turn + 1, nextInSeconds };
}
