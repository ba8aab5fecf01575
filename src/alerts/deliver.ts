// Delivers recorded alerts: claims one at a time per destination, posts it signed, and records the outcome [alerts.retries]. Started periodically by every
// process. A destination that fails or is slow delays no other, because no start waits for it [alerts.isolation].
import { createKeyedSemaphore } from "../lib/concurrency/keyed-semaphore.ts";
import { bypassRls } from "../storage/system.ts";
import { attemptDelivery } from "../webhooks/attempt.ts";
import { isGone, isThrottled } from "../webhooks/attempted.ts";
import { leaseSeconds } from "../webhooks/queues.ts";
import { nextDelaySeconds } from "../webhooks/schedule.ts";
import type { Destination } from "./destinations.ts";
import type { AlertServices } from "./services.ts";
import {
  claimAlert,
  type ClaimedAlert,
  listDueDestinations,
  recordAlertAttempt,
  releaseAlert,
} from "./store/alert-deliveries.ts";

/** The first five delays of webhooks: the last attempt is made after two and a half hours. An older alert is no longer news. */
export const MAX_ATTEMPTS = 5;
/** Of one start, so that a long backlog gives way to other destinations. */
const MAX_PER_DESTINATION = 50;
const DESTINATIONS_AT_ONCE = 16;
const GIVEN_UP = "an alert was given up";

export interface AlertDelivery {
  /** Starts with what is due, except at destinations with a delivery in progress. Does not wait for any of them. */
  readonly start: (stopping: AbortSignal) => Promise<void>;
  /** Resolves when nothing is in progress. */
  readonly settled: () => Promise<void>;
}

export function createAlertDelivery(services: AlertServices): AlertDelivery {
  const byId = new Map(services.destinations.map((each) => [each.id, each]));
  const semaphore = createKeyedSemaphore({ total: DESTINATIONS_AT_ONCE, perKind: DESTINATIONS_AT_ONCE });
  const inProgress = new Map<string, Promise<void>>();
  const deliverTo = async (destination: Destination, signal: AbortSignal): Promise<void> => {
    try {
      await semaphore.run("destination", signal, () => drain(services, destination, signal));
    } catch (error) {
      if (!signal.aborted)
        services.logger.error({ task: "deliver alerts", subject: destination.place, err: error }, "could not deliver");
    } finally {
      inProgress.delete(destination.id);
    }
  };
  return {
    start: async (stopping) => {
      const { db } = bypassRls(services.database, "claim");
      const idle = [...byId.keys()].filter((id) => !inProgress.has(id));
      for (const id of await listDueDestinations(db, idle)) {
        const destination = byId.get(id);
        if (destination !== undefined && !inProgress.has(id) && !stopping.aborted)
          inProgress.set(id, deliverTo(destination, stopping));
      }
    },
    settled: async () => {
      while (inProgress.size > 0) await Promise.all(inProgress.values());
    },
  };
}

/** Delivers what is due, and waits for it. */
export async function deliverAlerts(
  services: AlertServices,
  stopping: AbortSignal = new AbortController().signal,
): Promise<void> {
  const delivery = createAlertDelivery(services);
  await delivery.start(stopping);
  await delivery.settled();
}

/** Ends with the first failure: the next start continues. */
async function drain(services: AlertServices, destination: Destination, signal: AbortSignal): Promise<void> {
  const { db } = bypassRls(services.database, "claim");
  for (let made = 0; made < MAX_PER_DESTINATION && !signal.aborted; made += 1) {
    const claimed = await claimAlert(db, destination.id, leaseSeconds(services.timeoutMs));
    if (claimed === null) return;
    if (claimed.attempts > MAX_ATTEMPTS) await giveUp(services, destination, claimed);
    else if (!(await attempt(services, destination, claimed, signal))) return;
  }
}

/** Of an alert whose attempts ended with their process each time. */
async function giveUp(
  { database, logger }: AlertServices,
  { place }: Destination,
  claimed: ClaimedAlert,
): Promise<void> {
  const { db } = bypassRls(database, "claim");
  await recordAlertAttempt(db, claimed, { outcome: "interrupted", statusCode: null, nextDelaySeconds: null });
  logger.error({ event: "alert.given_up", subject: place, attempt: claimed.attempts, reason: "interrupted" }, GIVEN_UP);
}

/** Returns whether the receiver accepted it. */
async function attempt(
  services: AlertServices,
  { url, secret, place }: Destination,
  claimed: ClaimedAlert,
  signal: AbortSignal,
): Promise<boolean> {
  const { logger, random } = services;
  const { db } = bypassRls(services.database, "claim");
  const message = {
    url,
    event: JSON.parse(claimed.body) as object,
    eventId: claimed.id,
    secrets: { current: secret, previous: null },
    isTest: false,
  };
  const attempted = await attemptDelivery(services, message, signal).catch(async (error: unknown) => {
    // After any other error the attempt counts, and the next one is made when the claim has expired.
    if (signal.aborted) await releaseAlert(db, claimed);
    throw error;
  });
  const { outcome, statusCode, latencyMs } = attempted;
  const hasSucceeded = outcome === "delivered";
  const delaySeconds =
    hasSucceeded || isGone(attempted)
      ? null
      : nextDelaySeconds({
          made: claimed.attempts,
          maxAttempts: MAX_ATTEMPTS,
          isThrottled: isThrottled(attempted),
          retryAfterSeconds: attempted.retryAfterSeconds,
          random: random(),
        });
  await recordAlertAttempt(db, claimed, { outcome, statusCode, nextDelaySeconds: delaySeconds });
  if (!hasSucceeded) {
    const isOver = delaySeconds === null;
    const fields = { subject: place, attempt: claimed.attempts, reason: outcome, status: statusCode, ms: latencyMs };
    if (isOver) logger.error({ event: "alert.given_up", ...fields }, GIVEN_UP);
    else logger.warn({ event: "alert.not_delivered", ...fields }, "an alert was not accepted; it is sent again later");
  }
  return hasSucceeded;
}
