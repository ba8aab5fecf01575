// GET …/stream: the workspace's events as they happen, signed as a delivery would be, for `patchbay listen`, which forwards them to a
// receiver that no delivery could reach [webhooks.listen]. In addition to the deliveries, never instead of them.
import { setTimeout as wait } from "node:timers/promises";
import { sql } from "kysely";
import { brand, type EventId, type WorkspaceId } from "../contract/ids.ts";
import type { EventStatus, ListenDelivery, ListenReady } from "../contract/webhook.ts";
import { signedRequest } from "./attempt.ts";
import { eventBody } from "./event-body.ts";
import type { WebhookServices } from "./services.ts";
import { makeSecret, type SigningSecrets } from "./sign.ts";
import { openWebhook, readWebhook } from "./webhook-row.ts";

const POLL_MS = 500;
/** A transaction may commit so long after the moment its event bears. */
const LATE_SECONDS = 60;
/** In memory at once, however long a listener was away. */
const MAX_EVENTS = 500;

export interface Listening {
  readonly workspaceId: WorkspaceId;
  /** The last event that was seen; later ones, and perhaps some before, come again. */
  readonly after: string | null;
  /** Aborts when nobody listens any more, or may any more, or the process begins to stop. */
  readonly until: AbortSignal;
}

export type ListenEvent =
  | { readonly event: "ready"; readonly data: ListenReady }
  | { readonly event: "delivery"; readonly data: ListenDelivery };

export async function* listen(
  services: Pick<WebhookServices, "database" | "seal" | "nowMs">,
  { workspaceId, after, until }: Listening,
): AsyncGenerator<ListenEvent> {
  // Without a webhook there is no secret to sign with: this connection gets one of its own.
  const session = makeSecret();
  const configured = await signingSecrets(services, workspaceId);
  let since = await startingPoint(services, workspaceId, after);
  /** By id, when they occurred: those that a look at what came late finds again. */
  const seen = new Map<string, Date>(after === null ? [] : [[after, since]]);
  const remember = (page: readonly EventRow[]): void => {
    for (const { id, occurred_at: at } of page) {
      seen.set(id, at);
      // Never back: what had ended before is not news.
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
      secret: configured === null ? session : null,
      secret_last4: (configured?.current ?? session).slice(-4),
    },
  };
  while (!until.aborted) {
    for await (const page of eventsSince(services, workspaceId, since)) {
      const fresh = page.filter(({ id }) => !seen.has(id));
      const secrets = fresh.length === 0 ? null : await signingSecrets(services, workspaceId);
      for (const row of fresh) {
        // Whoever reads slowly is held up here, for as long as it likes.
        if (until.aborted) return;
        const signed = signedRequest(
          {
            event: eventBody({ job_id: row.job_id, job_status: row.status, occurred_at: row.occurred_at }),
            eventId: row.id,
            secrets: secrets ?? { current: session, previous: null },
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
  const moment = sql<{ at: Date }>`
    select coalesce((select occurred_at from webhook_events where id = ${after} and workspace_id = ${workspaceId}), patchbay_now()) as at`;
  const { rows } = await database.inWorkspace(workspaceId, (tx) => moment.execute(tx));
  return rows[0]?.at ?? new Date(0);
}

interface EventRow {
  readonly id: EventId;
  readonly job_id: string;
  readonly status: EventStatus;
  readonly occurred_at: Date;
}

/** With those that came late, page by page. */
async function* eventsSince(
  { database }: Pick<WebhookServices, "database">,
  workspaceId: WorkspaceId,
  since: Date,
): AsyncGenerator<readonly EventRow[]> {
  let beyond = sql<boolean>`occurred_at > ${since}::timestamptz - make_interval(secs => ${LATE_SECONDS})`;
  for (;;) {
    const rows = await database.inWorkspace(workspaceId, (tx) =>
      tx
        .selectFrom("webhook_events")
        .select(["id", "job_id", "status", "occurred_at"])
        .where("workspace_id", "=", workspaceId)
        .where(beyond)
        .orderBy("occurred_at")
        .orderBy("id")
        .limit(MAX_EVENTS)
        .execute(),
    );
    yield rows.map((row) => ({ ...row, id: brand("event", row.id) }));
    const last = rows.at(-1);
    if (last === undefined || rows.length < MAX_EVENTS) return;
    // Exact: an event's time is written as whole milliseconds, which a Date has.
    beyond = sql<boolean>`(occurred_at, id) > (${last.occurred_at}::timestamptz, ${last.id})`;
  }
}
