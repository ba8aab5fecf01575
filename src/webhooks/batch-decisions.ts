// Decides what the claims, attempts and releases of a batch change, from the rows that the batch has locked. Attempts come first, because they free places of
// their receivers. Pure but for the random delays.
import { brand } from "../contract/ids.ts";
import { openerWith, type SecretOpener } from "../storage/secrets/data-keys.ts";
import type { Seal } from "../storage/secrets/seal.ts";
import type { Attempted } from "./attempted.ts";
import { type ClaimedDelivery, decideClaim } from "./claim.ts";
import { type DeliveryState, deliveryStateOf, ended, type WebhookState, webhookStateOf } from "./delivery-state.ts";
import { eventBody } from "./event-body.ts";
import { AGAIN_QUEUE, type DeliveryMessage, type Lane, type ScheduledMessage } from "./queues.ts";
import { recordAttempt, type RetryRules } from "./record-attempt.ts";
import type { Locked } from "./store/lock-deliveries.ts";
import { type OpenedWebhook, openWebhookWith } from "./webhook-row.ts";

export interface ClaimStep {
  readonly kind: "claim";
  readonly message: DeliveryMessage;
  /** Queue to which the message returns if its receiver is busy. */
  readonly lane: Lane;
}

export interface RecordStep {
  readonly kind: "record";
  readonly attemptId: string;
  readonly delivery: ClaimedDelivery;
  readonly attempt: Attempted;
}

/** Of a delivery whose attempt was not made. */
export interface ReleaseStep {
  readonly kind: "release";
  readonly delivery: ClaimedDelivery;
}

export type Step = ClaimStep | RecordStep | ReleaseStep;

/** What an earlier try of the same batch has written, if it was committed. */
export interface EarlierTry {
  readonly attempts: ReadonlySet<string>;
  /** The ends of its claims, by delivery. */
  readonly claims: ReadonlyMap<string, string>;
}

export type StepAnswer =
  | { readonly kind: "stored" | "stale" | "busy" }
  /** To claim if its receiver has room. */
  | { readonly kind: "due"; readonly delivery: Omit<ClaimedDelivery, "claimedUntil"> }
  /** By an earlier try. */
  | { readonly kind: "claimed"; readonly delivery: ClaimedDelivery }
  | { readonly kind: "failed"; readonly error: unknown };

export interface Decisions {
  readonly answers: ReadonlyMap<Step, StepAnswer>;
  readonly deliveries: readonly DeliveryState[];
  readonly attempts: readonly (RecordStep & { readonly number: number })[];
  readonly webhooks: readonly WebhookState[];
  readonly retries: readonly ScheduledMessage[];
}

export interface DecisionServices extends RetryRules {
  readonly seal: Seal;
}

export function decideSteps(
  services: DecisionServices,
  steps: readonly Step[],
  locked: Locked,
  earlier: EarlierTry,
): Decisions {
  const deliveries = new Map(locked.deliveries.map((row) => [row.id, deliveryStateOf(row)]));
  const webhooks = new Map(locked.webhooks.map((row) => [row.workspace_id, webhookStateOf(row)]));
  const open = webhookOpener(openerWith(locked.dataKeys, services.seal));
  const answers = new Map<Step, StepAnswer>();
  const attempts: (RecordStep & { readonly number: number })[] = [];
  const retries: ScheduledMessage[] = [];
  const changed = new Set<string>();
  const claimed = new Set<string>();

  const deliveryOf = ({ workspaceId, deliveryId }: DeliveryMessage): DeliveryState | undefined => {
    const delivery = deliveries.get(deliveryId);
    return delivery?.row.workspace_id === workspaceId ? delivery : undefined;
  };
  const change = (delivery: DeliveryState): void => {
    deliveries.set(delivery.row.id, delivery);
    changed.add(delivery.row.id);
  };
  const record = (step: RecordStep): void => {
    const { message, eventId } = step.delivery;
    const delivery = deliveryOf(message);
    // The delivery was purged since, or an earlier try has stored the attempt.
    if (delivery?.row.event_id !== eventId || earlier.attempts.has(step.attemptId)) return;
    const after = recordAttempt(services, step, { delivery, webhook: webhooks.get(message.workspaceId) });
    change(after.delivery);
    attempts.push({ ...step, number: after.delivery.attemptsTotal });
    if (after.webhook !== undefined) webhooks.set(message.workspaceId, after.webhook);
    const { turn, nextInSeconds } = after.delivery;
    if (turn !== delivery.turn && nextInSeconds !== null)
      retries.push({ message: { ...message, turn }, lane: AGAIN_QUEUE, delaySeconds: nextInSeconds });
  };
  const release = ({ delivery: { message, claimedUntil } }: ReleaseStep): void => {
    const delivery = deliveryOf(message);
    if (delivery?.row.claimed_until_text === claimedUntil) change({ ...delivery, isClaimed: false });
  };
  const claim = ({ message }: ClaimStep): StepAnswer => {
    const delivery = deliveryOf(message);
    const decision = decideClaim(message, delivery, webhooks.get(message.workspaceId));
    if (delivery === undefined || decision.kind === "stale") return { kind: "stale" };
    if (decision.kind === "end") {
      change(ended(delivery, decision.endedBy));
      return { kind: "stale" };
    }
    const { deliveryId } = message;
    const claimedUntil = earlier.claims.get(deliveryId);
    const isEarlier = claimedUntil !== undefined && claimedUntil === delivery.row.claimed_until_text;
    if ((decision.kind === "busy" && !isEarlier) || changed.has(deliveryId) || claimed.has(deliveryId))
      return { kind: "busy" };
    try {
      const opened = claimedDelivery(message, delivery, open(webhooks.get(message.workspaceId)));
      claimed.add(deliveryId);
      return isEarlier ? { kind: "claimed", delivery: { ...opened, claimedUntil } } : { kind: "due", delivery: opened };
    } catch (error) {
      return { kind: "failed", error };
    }
  };

  for (const step of steps) {
    if (step.kind === "record") record(step);
    if (step.kind === "release") release(step);
    answers.set(step, { kind: "stored" });
  }
  for (const step of steps) if (step.kind === "claim") answers.set(step, claim(step));
  return {
    answers,
    deliveries: [...deliveries.values()].filter(({ row }) => changed.has(row.id)),
    attempts,
    webhooks: [...webhooks.values()],
    retries,
  };
}

interface Opened extends OpenedWebhook {
  readonly state: WebhookState;
}

/** Opens each webhook once. Throws if its secrets cannot be opened. */
function webhookOpener(keys: SecretOpener): (webhook: WebhookState | undefined) => Opened {
  const opened = new Map<string, OpenedWebhook>();
  return (state) => {
    if (state === undefined) throw new Error("a due delivery has no webhook");
    const { row } = state;
    const known = opened.get(row.workspace_id) ?? openWebhookWith(keys, row);
    opened.set(row.workspace_id, known);
    return { ...known, state };
  };
}

function claimedDelivery(
  message: DeliveryMessage,
  { row }: DeliveryState,
  { url, secrets, state }: Opened,
): Omit<ClaimedDelivery, "claimedUntil"> {
  return {
    message,
    url,
    webhook: state.row,
    secrets,
    eventId: brand("event", row.event_id),
    event: eventBody(row),
    isTest: row.is_test,
  };
}
