// Messages that wait in a process for one of their receiver's places.
import assert from "node:assert/strict";
import { once } from "node:events";
import { setImmediate as turn } from "node:timers/promises";
import { test } from "node:test";
import { sql } from "kysely";
import { newId } from "../../src/contract/ids.ts";
import { createQueue, type Queue, type WorkOptions } from "../../src/queue/queue.ts";
import { startDeliveries } from "../../src/webhooks/deliver.ts";
import { FIRST_QUEUE, PER_RECEIVER, webhookQueues } from "../../src/webhooks/queues.ts";
import type { Receivers } from "../../src/webhooks/services.ts";
import { openTestDatabase } from "../harness/postgres/database.ts";
import { until } from "../harness/until.ts";
import { ok, openBench, present } from "./harness.ts";

test("webhooks.receiver-concurrency: while another process has all places of a receiver, this one does not fetch and return its messages in turn", async (t) => {
  const database = await openTestDatabase();
  t.after(() => database.close());
  const { services, workspaceId } = await openBench(database);
  let claims = 0;
  const claim = async () => {
    claims += 1;
    return { kind: "busy" } as const;
  };
  const works = new Map<string, WorkOptions>();
  startDeliveries(
    { ...services, writes: { ...services.writes, claim } },
    { work: (lane, options) => void works.set(lane, options) },
  );
  const { handler } = present(works.get(FIRST_QUEUE));
  const stop = new AbortController();
  const handled = Array.from({ length: PER_RECEIVER + 1 }, () =>
    handler({
      data: { workspaceId, deliveryId: newId("delivery"), turn: 0 },
      signal: stop.signal,
      freeSlot: () => undefined,
    }),
  );
  for (let turns = 0; turns < 20; turns += 1) await turn();
  assert.equal(claims, PER_RECEIVER);
  stop.abort(new Error("stopping"));
  const outcomes = await Promise.allSettled(handled);
  assert.equal(outcomes.filter((outcome) => outcome.status === "fulfilled").length, PER_RECEIVER);
  assert.equal(claims, PER_RECEIVER);
});

test("webhooks.stop: a process that stops gives back the attempts that it made and the messages that waited for them, and another delivers all", async (t) => {
  const database = await openTestDatabase();
  t.after(() => database.close());
  const definitions = Object.entries(webhookQueues(15_000)).map(
    ([name, definition]) => [name, { ...definition, retryDelaySeconds: 0 }] as const,
  );
  const start = async (): Promise<Queue> => {
    const queue = createQueue({ database, queues: Object.fromEntries(definitions), onError: () => undefined });
    await queue.start();
    t.after(() => queue.stop());
    return queue;
  };
  const [queue, other] = [await start(), await start()];
  let hanging = 0;
  const hang: Receivers["post"] = async ({ signal }) => {
    hanging += 1;
    await once(present(signal), "abort");
    throw present(signal).reason;
  };
  const receivers = (post: Receivers["post"]): Receivers => ({ refusal: async () => null, post });
  const bench = await openBench(database, { queue, receivers: receivers(hang) });
  await bench.configure();
  for (let n = 0; n < PER_RECEIVER + 2; n += 1) await bench.event();
  startDeliveries(bench.services, queue);
  await until(() => hanging === PER_RECEIVER);
  await queue.stop();
  assert.equal(hanging, PER_RECEIVER);
  const arrived: string[] = [];
  const accept: Receivers["post"] = async ({ headers }) => {
    arrived.push(headers["x-svc-webhook-id"] ?? "");
    return ok;
  };
  startDeliveries({ ...bench.services, receivers: receivers(accept) }, other);
  await until(async () => {
    const { rows } = await sql`select from webhook_deliveries where state = 'pending'`.execute(database.db);
    return rows.length === 0;
  });
  assert.deepEqual([arrived.length, new Set(arrived).size], [PER_RECEIVER + 2, PER_RECEIVER + 2]);
});
