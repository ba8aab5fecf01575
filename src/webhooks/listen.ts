// GET …/stt-webhook/stream: streams the workspace's events, signed like deliveries, to `patchbay listen`, which forwards them to a receiver that deliveries
// cannot reach [webhooks.listen]. The stream supplements the deliveries and never replaces them.
import { setTimeout as wait } from "node:timers/promises";
import type { WorkspaceId } from "../contract/ids.ts";
import type { ListenDelivery, ListenReady } from "../contract/webhook.ts";
import { signedRequest } from "./attempt.ts";
import { eventBody } from "./event-body.ts";
import type { WebhookServices } from "./services.ts";
import { makeSecret, type SigningSecrets } from "./sign.ts";
import { type EventRow, type EventsAfter, listEvents, readEventTime } from "./store/webhook-events.ts";
import { readWebhook } from "./store/webhooks.ts";
import { openWebhook } from "./webhook-row.ts";

const POLL_MS = 500;
/** A transaction may commit this long after the event's timestamp. */
const LATE_SECONDS = 60;
/** Events per page, so that memory is bounded however long a listener was disconnected. */
const MAX_EVENTS = 500;

export interface Listening {
  readonly workspaceId: WorkspaceId;
  /** The last event that the listener has seen. Later events follow, and some earlier ones may be repeated. */
  readonly after: string | null;
  /** Aborts when the client disconnects, loses its authorization, or the process begins to stop. */
  readonly until: AbortSignal;
}

export type ListenEvent =
  | { readonly event: "ready"; readonly data: ListenReady }
  | { readonly event: "delivery"; readonly data: ListenDelivery };

export async function* listen(
  services: Pick<WebhookServices, "database" | "seal" | "nowMs">,
  { workspaceId, after, until }: Listening,
): AsyncGenerator<ListenEvent> {
  // Without a webhook there is no signing secret: this connection gets one of its own.
  const sessionSecret = makeSecret();
  const configured = await signingSecrets(services, workspaceId);
  let since = await startingPoint(services, workspaceId, after);
  /** Timestamps of the events already seen, by id, because the look back for late commits finds them again. */
  const seen = new Map<string, Date>(after === null ? [] : [[after, since]]);
  const remember = (page: readonly EventRow[]): void => {
    for (const { id, occurred_at: at } of page) {
      seen.set(id, at);
      // Never moves back: what had ended before is not new.
      if (at > since) since = at;
    }
    const lateMs = since.getTime() - LATE_SECONDS * 1000;
    for (const [id, at] of seen) if (at.getTime() < lateMs) seen.delete(id);
  };
  if (after === null) for await (const page of eventsSince(services, workspaceId, since)) remember(page);
  yield {
    event: "ready",
    data: {
      object: "stt_webhook_stream",
      secret: configured === null ? sessionSecret : null,
      secret_last4: (configured?.current ?? sessionSecret).slice(-4),
    },
  };
  while (!until.aborted) {
    for await (const page of eventsSince(services, workspaceId, since)) {
      const newEvents = page.filter(({ id }) => !seen.has(id));
      const secrets = newEvents.length === 0 ? null : await signingSecrets(services, workspaceId);
      for (const row of newEvents) {
        // Backpressure: a slow client blocks here for as long as it takes.
        if (until.aborted) return;
        const signed = signedRequest(
          {
            event: eventBody({ job_id: row.job_id, job_status: row.status, occurred_at: row.occurred_at }),
            eventId: row.id,
            secrets: secrets ?? { current: sessionSecret, previous: null },
            isTest: false,
          },
          services.nowMs(),
        );
        yield { event: "delivery", data: { object: "stt_webhook_stream_delivery", id: row.id, ...signed } };
      }
      remember(page);
      if (until.aborted) return;
    }
    await wait(POLL_MS, undefined, { signal: until }).catch(() => undefined);
  }
}

async function signingSecrets(
  { database, seal }: Pick<WebhookServices, "database" | "seal">,
  workspaceId: WorkspaceId,
): Promise<SigningSecrets | null> {
  return database.inWorkspace(workspaceId, async (tx) => {
    const row = await readWebhook(tx, workspaceId);
    return row === undefined ? null : (await openWebhook(tx, seal, row)).secrets;
  });
}

async function startingPoint(
  { database }: Pick<WebhookServices, "database">,
  workspaceId: WorkspaceId,
  after: string | null,
): Promise<Date> {
  return database.inWorkspace(workspaceId, (tx) => readEventTime(tx, workspaceId, after));
}

/** Yields events page by page, including those that were committed late. */
async function* eventsSince(
  { database }: Pick<WebhookServices, "database">,
  workspaceId: WorkspaceId,
  since: Date,
): AsyncGenerator<readonly EventRow[]> {
  let after: EventsAfter = { time: since, lateSeconds: LATE_SECONDS };
  for (;;) {
    const rows = await database.inWorkspace(workspaceId, (tx) => listEvents(tx, workspaceId, after, MAX_EVENTS));
    yield rows;
    const last = rows.at(-1);
    if (last === undefined || rows.length < MAX_EVENTS) return;
    after = last;
  }
}
