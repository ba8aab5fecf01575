// Decides whether a locked delivery is claimed for one attempt. Claims are in the database, so that a delivery is never attempted twice at once
// [webhooks.stale-messages] and a receiver gets at most four requests at once over all processes [webhooks.receiver-concurrency].
import type { WebhookEventBody } from "../contract/webhook.ts";
import type { DeliveryMessage } from "./queues.ts";
import type { SigningSecrets } from "./sign.ts";
import type { DeliveryState, EndedBy, WebhookState } from "./delivery-state.ts";
import type { WebhookRow } from "./store/webhooks.ts";

export interface ClaimedDelivery {
  readonly message: DeliveryMessage;
  readonly url: string;
  /** The settings at the start of the attempt. */
  readonly webhook: WebhookRow;
  readonly secrets: SigningSecrets;
  readonly eventId: string;
  readonly event: WebhookEventBody;
  readonly isTest: boolean;
  /** The end of the claim, exactly as it is stored: no other claim has the same. */
  readonly claimedUntil: string;
}

export type Claim =
  | { readonly kind: "claimed"; readonly delivery: ClaimedDelivery }
  /** The delivery has ended, or is due under a later message. */
  | { readonly kind: "stale" }
  /** The delivery is being attempted, or its receiver has as many attempts as allowed. Its message comes again. */
  | { readonly kind: "busy" };

export type ClaimDecision =
  /** It is claimed if its receiver has fewer attempts than allowed. */
  { readonly kind: "due" | "stale" | "busy" } | { readonly kind: "end"; readonly endedBy: EndedBy };

export function decideClaim(
  { turn }: DeliveryMessage,
  delivery: DeliveryState | undefined,
  webhook: WebhookState | undefined,
): ClaimDecision {
  if (delivery === undefined || delivery.turn !== turn || delivery.state !== "pending") return { kind: "stale" };
  if (webhook === undefined) return { kind: "end", endedBy: "deleted" };
  if (!webhook.isEnabled && !delivery.row.is_test) return { kind: "end", endedBy: "disabled" };
  return { kind: delivery.isClaimed ? "busy" : "due" };
}
