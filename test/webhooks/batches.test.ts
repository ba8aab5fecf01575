// Claims and attempts of deliveries that share a transaction, also with other processes and over a broken connection: none affects another.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { after, before, test } from "node:test";
import { sql } from "kysely";
import { bypassRls } from "../../src/storage/system.ts";
import { attemptDelivery } from "../../src/webhooks/attempt.ts";
import type { Claim, ClaimedDelivery } from "../../src/webhooks/claim.ts";
import { createDeliveryWrites } from "../../src/webhooks/delivery-writes.ts";
import { describeWebhook } from "../../src/webhooks/describe.ts";
import { describeDelivery } from "../../src/webhooks/list-deliveries.ts";
import { AGAIN_QUEUE, type DeliveryMessage, FIRST_QUEUE, PER_RECEIVER } from "../../src/webhooks/queues.ts";
import type { ReceiverAnswer } from "../../src/webhooks/services.ts";
import {
  openTestDatabase,
  type OpenDatabase,
  type TestDatabase,
  withSystemAccess,
} from "../harness/postgres/database.ts";
import { until } from "../harness/until.ts";
import { type Bench, ok, openBench, present, status } from "./harness.ts";

let database: TestDatabase;
before(async () => {
  database = await openTestDatabase();
});
after(() => database.close());

/** Of a workspace with a webhook. */
async function openConfigured(url?: string): Promise<Bench> {
  const bench = await openBench(database);
  await bench.configure(url === undefined ? {} : { url });
  return bench;
}

async function events(bench: Bench, count: number): Promise<readonly DeliveryMessage[]> {
  const messages: DeliveryMessage[] = [];
  for (let n = 0; n < count; n += 1) messages.push(present(await bench.event()));
  return messages;
}

function requireClaimed(claim: Claim | undefined): ClaimedDelivery {
  assert.ok(claim?.kind === "claimed", claim?.kind);
  return claim.delivery;
}

const kindsOf = (claims: readonly Claim[]) => claims.map(({ kind }) => kind);

async function attempted(bench: Bench, delivery: ClaimedDelivery, answer: ReceiverAnswer) {
  bench.answer(answer);
  return attemptDelivery(bench.services, delivery);
}

const viewOf = async ({ workspaceId, deliveryId }: DeliveryMessage) =>
  present(await describeDelivery(database, workspaceId, deliveryId));

/** Rows that one transaction wrote last have the same number. */
async function transactionsOf(table: "webhook_deliveries" | "webhook_attempts", ids: readonly string[]) {
  const column = table === "webhook_deliveries" ? "id" : "delivery_id";
  const { rows } = await sql<{ xmin: string }>`select xmin::text from ${sql.table(table)}
    where ${sql.ref(column)} = any(${ids}::text[])`.execute(database.db);
  return rows.map(({ xmin }) => xmin);
}

test("webhooks.tenancy, webhooks.at-least-once: deliveries of two workspaces share a transaction, each with its own secret and outcome, and a message that names another workspace's delivery claims nothing", async () => {
  const [own, other] = [await openConfigured("https://own.example/"), await openConfigured("https://other.example/")];
  const { writes } = own.services;
  const [first, second] = await events(own, 2);
  const [third] = await events(other, 1);
  assert.ok(first !== undefined && second !== undefined && third !== undefined);
  const foreign = { ...third, workspaceId: own.workspaceId };
  const claims = await Promise.all(
    [foreign, first, second, third].map((message) => writes.claim(message, FIRST_QUEUE)),
  );
  assert.deepEqual(kindsOf(claims), ["stale", "claimed", "claimed", "claimed"]);
  const ids = [first, second, third].map(({ deliveryId }) => deliveryId);
  assert.equal(new Set(await transactionsOf("webhook_deliveries", ids)).size, 1);
  const [one, two, three] = claims.slice(1).map(requireClaimed);
  assert.ok(one !== undefined && two !== undefined && three !== undefined);
  assert.deepEqual(
    [one.url, two.url, three.url],
    ["https://own.example/", "https://own.example/", "https://other.example/"],
  );
  assert.equal(one.secrets.current, two.secrets.current);
  assert.notEqual(one.secrets.current, three.secrets.current);

  await Promise.all([
    writes.record(one, await attempted(own, one, ok)),
    writes.record(two, await attempted(own, two, status(500))),
    writes.record(three, await attempted(other, three, status(410))),
  ]);
  const views = await Promise.all([first, second, third].map(viewOf));
  assert.deepEqual(
    views.map((view) => [view.status, view.ended_by, view.attempts.map((attempt) => attempt.status_code)]),
    [
      ["delivered", null, [204]],
      ["pending", null, [500]],
      ["failed", "gone", [410]],
    ],
  );
  assert.equal(new Set(await transactionsOf("webhook_attempts", ids)).size, 1);
  assert.deepEqual(own.sent.at(-1), { lane: AGAIN_QUEUE, message: { ...second, turn: 1 }, delaySeconds: 5 });
  const { rows } = await sql<{ count: number }>`select count(*)::int as count from webhook_attempts as attempt
    join webhook_deliveries as delivery on delivery.id = attempt.delivery_id and delivery.workspace_id = attempt.workspace_id
    where delivery.id = any(${ids}::text[])`.execute(database.db);
  assert.equal(rows[0]?.count, 3);
  const [ownWebhook, otherWebhook] = [
    await describeWebhook(own.services, own.workspaceId),
    await describeWebhook(other.services, other.workspaceId),
  ];
  assert.deepEqual([ownWebhook.enabled, ownWebhook.failing_since === null], [true, false]);
  assert.deepEqual([otherWebhook.enabled, otherWebhook.disabled_reason], [false, "gone"]);
  assert.deepEqual(
    [(await own.audits()).length, (await other.audits()).map(({ action }) => action)],
    [1, ["stt_webhook.configured", "stt_webhook.disabled"]],
  );
});

test("webhooks.at-least-once: an attempt that the database does not accept, and a claim whose secret cannot be opened, fail alone", async () => {
  const [bench, broken] = [await openConfigured(), await openConfigured()];
  const { writes } = bench.services;
  const [first, second] = await events(bench, 2);
  const [unopened] = await events(broken, 1);
  assert.ok(first !== undefined && second !== undefined && unopened !== undefined);
  await database.db
    .updateTable("webhooks")
    .set({ secret: randomBytes(60) })
    .where("workspace_id", "=", broken.workspaceId)
    .execute();
  const [one, none, two] = await Promise.allSettled(
    [first, unopened, second].map((message) => writes.claim(message, FIRST_QUEUE)),
  );
  assert.equal(none?.status, "rejected");
  assert.ok(one?.status === "fulfilled" && two?.status === "fulfilled");
  const [sound, unsound] = [requireClaimed(one.value), requireClaimed(two.value)];
  const made = await attempted(bench, sound, ok);
  const outcomes = await Promise.allSettled([
    writes.record(unsound, { ...made, statusCode: 2 ** 40 }),
    writes.record(sound, made),
  ]);
  assert.deepEqual(
    outcomes.map((outcome) => outcome.status),
    ["rejected", "fulfilled"],
  );
  assert.deepEqual([(await viewOf(first)).status, (await viewOf(first)).attempts.length], ["delivered", 1]);
  assert.deepEqual([(await viewOf(second)).status, (await viewOf(second)).attempts.length], ["pending", 0]);
});

test("webhooks.receiver-concurrency: the transaction that records an attempt claims the next delivery, in whatever order they come", async () => {
  const bench = await openConfigured();
  const { writes } = bench.services;
  const messages = await events(bench, PER_RECEIVER + 3);
  const claims = await Promise.all(
    messages.slice(0, PER_RECEIVER + 1).map((message) => writes.claim(message, FIRST_QUEUE)),
  );
  assert.deepEqual(kindsOf(claims), [...Array.from({ length: PER_RECEIVER }, () => "claimed"), "busy"]);
  assert.deepEqual(bench.sent.at(-1), { lane: FIRST_QUEUE, message: messages[PER_RECEIVER], delaySeconds: 2 });
  const [one, two] = claims.map((claim) => (claim.kind === "claimed" ? claim.delivery : null));
  const [fifth, sixth, seventh] = messages.slice(PER_RECEIVER);
  assert.ok(one !== null && one !== undefined && two !== null && two !== undefined);
  assert.ok(fifth !== undefined && sixth !== undefined && seventh !== undefined);
  const [, next] = await Promise.all([
    writes.record(one, await attempted(bench, one, ok)),
    writes.claim(fifth, FIRST_QUEUE),
  ]);
  assert.equal(next.kind, "claimed");
  const made = await attempted(bench, two, ok);
  const [early, late] = await Promise.all([
    writes.claim(sixth, FIRST_QUEUE),
    writes.claim(seventh, FIRST_QUEUE),
    writes.record(two, made),
  ]);
  assert.deepEqual([early.kind, late.kind], ["claimed", "busy"]);
});

test("webhooks.disable-gone, webhooks.pending-when-disabled: a delivery that is claimed together with a 410 of its receiver is given up", async () => {
  const bench = await openConfigured();
  const { writes } = bench.services;
  const [first, second] = await events(bench, 2);
  assert.ok(first !== undefined && second !== undefined);
  const delivery = requireClaimed(await writes.claim(first, FIRST_QUEUE));
  const gone = await attempted(bench, delivery, status(410));
  const [claim] = await Promise.all([writes.claim(second, FIRST_QUEUE), writes.record(delivery, gone)]);
  assert.equal(claim.kind, "stale");
  assert.deepEqual([(await viewOf(second)).status, (await viewOf(second)).ended_by], ["failed", "disabled"]);
});

test("webhooks.receiver-concurrency, webhooks.stale-messages: of two processes that claim the same deliveries at once, one claims each, at most four together", async (t) => {
  const bench = await openConfigured();
  const second = await database.openSecond();
  t.after(() => second.close());
  const there = createDeliveryWrites({ ...bench.services, database: second, maxAttempts: 8, random: () => 0.5 });
  const messages = await events(bench, PER_RECEIVER + 2);
  const processes = [bench.services.writes, there];
  const claims = await Promise.all(
    processes.flatMap((writes) => messages.map((message) => writes.claim(message, FIRST_QUEUE))),
  );
  const claimed = claims.filter((claim) => claim.kind === "claimed");
  assert.equal(new Set(claimed.map(({ delivery }) => delivery.message.deliveryId)).size, claimed.length);
  assert.equal(claimed.length, PER_RECEIVER);
  assert.equal(claims.filter(({ kind }) => kind === "busy").length, claims.length - PER_RECEIVER);
  await Promise.all(claimed.map(async ({ delivery }) => there.record(delivery, await attempted(bench, delivery, ok))));
  const left = await Promise.all(messages.map((message) => there.claim(message, FIRST_QUEUE)));
  assert.deepEqual(kindsOf(left).toSorted(), ["claimed", "claimed", "stale", "stale", "stale", "stale"]);
});

for (const when of ["before", "after"] as const) {
  test(`webhooks.at-least-once: a connection that breaks ${when} the commit of a batch loses no delivery, and none is recorded or sent again twice`, async () => {
    const bench = await openConfigured();
    const [first, second] = await events(bench, 2);
    assert.ok(first !== undefined && second !== undefined);
    const sent = bench.sent.length;
    const writesOn = (broken: OpenDatabase) =>
      createDeliveryWrites({ ...bench.services, database: broken, maxAttempts: 8, random: () => 0.5 });
    const claimer = writesOn(breaking(database, when));
    const claims = await Promise.all([first, second].map((message) => claimer.claim(message, FIRST_QUEUE)));
    const [one, two] = claims.map(requireClaimed);
    assert.ok(one !== undefined && two !== undefined);
    const recorder = writesOn(breaking(database, when));
    await Promise.all([
      recorder.record(one, await attempted(bench, one, ok)),
      recorder.record(two, await attempted(bench, two, status(500))),
    ]);
    assert.deepEqual([(await viewOf(first)).status, (await viewOf(first)).attempts.length], ["delivered", 1]);
    assert.deepEqual([(await viewOf(second)).status, (await viewOf(second)).attempts.length], ["pending", 1]);
    const next = bench.sent.slice(sent).map(({ message }) => message);
    // The queue of this test sends at once. A real one sends nothing in a transaction that is rolled back.
    assert.deepEqual(
      next,
      Array.from({ length: when === "before" ? 2 : 1 }, () => ({ ...second, turn: 1 })),
    );
    assert.equal((await bench.services.writes.claim({ ...second, turn: 1 }, AGAIN_QUEUE)).kind, "claimed");
  });
}

/** Its first transaction loses its connection. */
function breaking(own: OpenDatabase, when: "before" | "after"): OpenDatabase {
  const access = bypassRls(own, "batch");
  let isBroken = false;
  return withSystemAccess(own, {
    transaction: async (work) => {
      if (isBroken) return access.transaction(work);
      isBroken = true;
      await access.transaction(async (tx) => {
        await work(tx);
        if (when === "before") await sql`select pg_terminate_backend(pg_backend_pid())`.execute(tx);
      });
      throw Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET" });
    },
  });
}

test("webhooks.receiver-concurrency: batches of two processes lock their webhooks in the same order, and deliveries after them, as a redelivery does", async () => {
  const benches = [await openConfigured(), await openConfigured()];
  const [first, second] = benches.toSorted((left, right) => (left.workspaceId < right.workspaceId ? -1 : 1));
  assert.ok(first !== undefined && second !== undefined);
  const { writes } = first.services;
  const messages = [...(await events(second, 1)), ...(await events(first, 1))];
  const lock = (bench: Bench) => sql`select from webhooks where workspace_id = ${bench.workspaceId} for update`;
  const { claiming } = await database.transaction(async (tx) => {
    await lock(first).execute(tx);
    const claims = Promise.all(messages.map((message) => writes.claim(message, FIRST_QUEUE)));
    await until(async () => {
      const { rows } =
        await sql`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`.execute(
          database.db,
        );
      return rows.length > 0;
    });
    await sql`${lock(second)} nowait`.execute(tx);
    const ids = messages.map(({ deliveryId }) => deliveryId);
    await sql`select from webhook_deliveries where id = any(${ids}::text[]) for update nowait`.execute(tx);
    return { claiming: claims };
  });
  assert.deepEqual(kindsOf(await claiming), ["claimed", "claimed"]);
});

test("storage.transactions: prepared claims and records go on after the migration of a newer version has added columns", async () => {
  const own = await openTestDatabase({ poolSize: 1 });
  try {
    const bench = await openBench(own);
    await bench.configure();
    await bench.run(present(await bench.event()));
    for (const table of ["webhooks", "webhook_deliveries", "webhook_attempts"])
      await sql`alter table ${sql.table(table)} add column of_a_newer_version text`.execute(own.db);
    const message = present(await bench.event());
    await bench.run(message);
    assert.equal(present(await describeDelivery(own, bench.workspaceId, message.deliveryId)).status, "delivered");
  } finally {
    await own.close();
  }
});
