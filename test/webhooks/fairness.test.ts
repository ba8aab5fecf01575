// Many receivers that never answer, and one that does [webhooks.failing-receivers]: over the real queue.
import assert from "node:assert/strict";
import { test } from "node:test";
import { brand, newId } from "../../src/contract/ids.ts";
import { createQueue } from "../../src/queue/queue.ts";
import { bypassRls } from "../../src/storage/system.ts";
import { startDeliveries } from "../../src/webhooks/deliver.ts";
import { deliverOnTerminal } from "../../src/webhooks/on-terminal.ts";
import { AGAIN_QUEUE, FIRST_QUEUE, PER_RECEIVER, webhookQueues } from "../../src/webhooks/queues.ts";
import type { ReceiverAnswer, WebhookServices } from "../../src/webhooks/services.ts";
import { makeTenant, openTestDatabase, type TestDatabase } from "../harness/postgres/database.ts";
import { ok, openBench } from "./harness.ts";

interface Workspace {
  readonly workspaceId: string;
  readonly appId: string;
}

const PLACES = { [FIRST_QUEUE]: 24, [AGAIN_QUEUE]: 18 } as const;
const DEAD = "https://dead.example/";
const LIVE = "https://live.example/";

async function makeWorkspaces(database: TestDatabase, count: number): Promise<readonly Workspace[]> {
  const made: Workspace[] = [];
  for (let n = 0; n < count; n += 1) made.push(await makeTenant(database));
  return made;
}

/** Their webhooks, as rows: what is tested here is not how they come about. */
async function configure(services: WebhookServices, workspaces: readonly Workspace[], url: string, isFailing: boolean) {
  for (const { workspaceId } of workspaces)
    await bypassRls(services.database, "batch")
      .db.insertInto("webhooks")
      .values({
        workspace_id: workspaceId,
        url,
        enabled: true,
        secret: services.seal.seal(Buffer.from("whsec_AAAA"), ["webhooks", workspaceId, "secret"]),
        secret_last4: "AAAA",
        failing_since: isFailing ? new Date() : null,
      })
      .execute();
}

async function endJobs(services: WebhookServices, workspaces: readonly Workspace[], each: number): Promise<void> {
  await bypassRls(services.database, "batch").transaction(async (tx) => {
    for (const { workspaceId, appId } of workspaces)
      for (let n = 0; n < each; n += 1)
        await deliverOnTerminal(services, tx, [
          {
            id: newId("event"),
            workspaceId: brand("workspace", workspaceId),
            appId: brand("app", appId),
            jobId: newId("job"),
            type: "transcription.job.succeeded",
            status: "succeeded",
            occurredAt: new Date(),
          },
        ]);
  });
}

for (const { what, isFailing, lane, receivers, each } of [
  { what: "are known to fail and fill their queue", isFailing: true, lane: AGAIN_QUEUE, receivers: 6, each: 4 },
  { what: "seemed well until now", isFailing: false, lane: FIRST_QUEUE, receivers: 5, each: 6 },
] as const) {
  test(`webhooks.failing-receivers, webhooks.receiver-concurrency: receivers that hang and ${what} delay no other receiver, and none has more than four attempts at once`, async (t) => {
    const database = await openTestDatabase();
    const queue = createQueue({
      database,
      queues: webhookQueues(15_000),
      onError: (error) => t.diagnostic(String(error)),
    });
    await queue.start();
    const release = Promise.withResolvers<void>();
    const hanging = new Map<string, number>();
    const full = Promise.withResolvers<void>();
    const arrived = Promise.withResolvers<void>();
    const expected = Math.min(receivers * Math.min(each, PER_RECEIVER), PLACES[lane]);
    let now = 0;
    const post = async ({ url, headers }: { url: string; headers: Readonly<Record<string, string>> }) => {
      if (url.startsWith(LIVE)) {
        arrived.resolve();
        return ok;
      }
      const own = headers["x-svc-webhook-id"] ?? "";
      const { workspace_id: workspace } = await database.db
        .selectFrom("webhook_deliveries")
        .select("workspace_id")
        .where("event_id", "=", own)
        .executeTakeFirstOrThrow();
      hanging.set(workspace, (hanging.get(workspace) ?? 0) + 1);
      now += 1;
      if (now === expected) full.resolve();
      await release.promise;
      return { kind: "timeout" } satisfies ReceiverAnswer;
    };
    const { services } = await openBench(database, { queue, receivers: { refusal: async () => null, post } });
    t.after(async () => {
      release.resolve();
      await queue.stop();
      await database.close();
    });
    const dead = await makeWorkspaces(database, receivers);
    const live = await makeWorkspaces(database, 1);
    await configure(services, dead, DEAD, isFailing);
    await configure(services, live, LIVE, false);
    await endJobs(services, dead, each);
    startDeliveries(services, queue, PLACES);
    await full.promise;
    await endJobs(services, live, 1);
    await arrived.promise;
    assert.ok(
      [...hanging.values()].every((count) => count <= PER_RECEIVER),
      JSON.stringify([...hanging.values()]),
    );
    assert.equal(now, expected, "the dead ones hang still, every place that is theirs is taken");
  });
}
