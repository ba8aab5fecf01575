// Deliveries from the terminal transaction to their end, on the database.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type RawBuilder, sql } from "kysely";
import { webhookEvent } from "../../src/contract/webhook.ts";
import { attemptDelivery } from "../../src/webhooks/attempt.ts";
import { deliver } from "../../src/webhooks/deliver.ts";
import { describeWebhook, deleteWebhook } from "../../src/webhooks/describe.ts";
import { describeDelivery, listDeliveries } from "../../src/webhooks/list-deliveries.ts";
import { listen } from "../../src/webhooks/listen.ts";
import { AGAIN_QUEUE, type DeliveryMessage, FIRST_QUEUE } from "../../src/webhooks/queues.ts";
import { redeliver } from "../../src/webhooks/redeliver.ts";
import { sweepWebhooks } from "../../src/webhooks/sweep.ts";
import { testWebhook } from "../../src/webhooks/test-webhook.ts";
import { verifyWebhook } from "../../src/webhooks/verify.ts";
import { newId } from "../../src/contract/ids.ts";
import { openTestDatabase, shiftClock, type TestDatabase } from "../harness/postgres/database.ts";
import { type Bench, ok, openBench, present, status, URL_OF_RECEIVER } from "./harness.ts";

let database: TestDatabase;
before(async () => {
  database = await openTestDatabase();
});
after(() => database.close());

const HOUR = 3_600;
const DAY = 24 * HOUR;
const shift = (seconds: number) => shiftClock(database, seconds);
const delivery = async (bench: Bench, { deliveryId }: DeliveryMessage) =>
  present(await describeDelivery(database, bench.workspaceId, deliveryId));

test("webhooks.event-per-end, webhooks.payload, webhooks.signature: every terminal state is delivered, signed, with exactly four fields and nothing else", async () => {
  const bench = await openBench(database);
  const { secret } = await bench.configure();
  for (const state of ["succeeded", "failed", "cancelled"] as const) {
    const message = present(await bench.event(state));
    assert.equal(await bench.run(message), null);
    const request = present(bench.requests.at(-1));
    assert.equal(request.url, URL_OF_RECEIVER);
    const body: unknown = JSON.parse(request.body);
    assert.deepEqual(Object.keys(body as object), ["type", "job_id", "status", "occurred_at"]);
    assert.equal(webhookEvent.parse(body).type, `transcription.job.${state}`);
    assert.ok(Buffer.byteLength(request.body) < 1_024);
    const verdict = verifyWebhook({ ...request, secret: present(secret) });
    assert(verdict.ok, JSON.stringify(verdict));
    const view = await delivery(bench, message);
    assert.equal(verdict.id, view.event_id);
    assert.deepEqual(view.event, body);
    assert.deepEqual([view.status, view.attempts.length, view.next_attempt_at], ["delivered", 1, null]);
  }
});

test("webhooks.no-webhook: without a webhook, or with a disabled one, a job ends and nothing is written or sent", async () => {
  const bench = await openBench(database);
  assert.equal(await bench.event(), null);
  await bench.configure({ enabled: false });
  assert.equal(await bench.event(), null);
  const page = { status: null, limit: 10, cursor: null };
  assert.deepEqual((await listDeliveries(database, bench.workspaceId, page)).data, []);
});

test("webhooks.event-per-end: a terminal transaction that rolls back leaves no delivery", async () => {
  const bench = await openBench(database);
  await bench.configure();
  const failing = {
    ...bench.services,
    queue: { ...bench.services.queue, sendAll: async () => Promise.reject(new Error("no queue")) },
  };
  const broken = await openBench(database, failing);
  await broken.configure();
  await assert.rejects(broken.event(), /no queue/);
  const page = { status: null, limit: 10, cursor: null };
  assert.deepEqual((await listDeliveries(database, broken.workspaceId, page)).data, []);
});

test("webhooks.schedule, webhooks.event-id: a receiver that always fails is tried at 0, 5 s, 5 min, 30 min, 2 h, 5 h, 10 h, 10 h, under one event id, and no more", async () => {
  for (const random of [0, 0.5, 1]) {
    const bench = await openBench(database, { random: () => random });
    await bench.configure();
    bench.answer(status(500));
    let message = present(await bench.event());
    assert.equal(bench.sent[0]?.lane, FIRST_QUEUE);
    const steps = [5, 300, 1_800, 7_200, 18_000, 36_000, 36_000];
    let elapsed = 0;
    for (const step of steps) {
      const beforeMs = Date.now();
      const next = present(await bench.run(message));
      const afterMs = Date.now();
      assert.equal(next.lane, AGAIN_QUEUE);
      assert.ok(
        next.delaySeconds >= step * 0.9 - 0.001 && next.delaySeconds <= step * 1.1 + 0.001,
        `${step}: ${next.delaySeconds}`,
      );
      const view = await delivery(bench, message);
      const decidedAtMs = Date.parse(present(view.next_attempt_at)) - (next.delaySeconds + elapsed) * 1000;
      assert.ok(decidedAtMs > beforeMs - 2_000 && decidedAtMs < afterMs + 2_000, `${decidedAtMs - beforeMs} ms off`);
      elapsed += next.delaySeconds;
      await shift(elapsed);
      message = next.message;
    }
    assert.equal(await bench.run(message), null);
    const view = await delivery(bench, message);
    assert.deepEqual([view.status, view.ended_by, view.attempts.length], ["failed", "attempts", 8]);
    assert.equal(new Set(bench.requests.map(({ headers }) => headers["x-svc-webhook-id"])).size, 1);
    assert.equal(new Set(bench.requests.map(({ body }) => body)).size, 1);
    await shift(0);
  }
});

test("webhooks.signed-per-attempt: timestamp and signature are new for every attempt", async () => {
  let nowMs = Date.parse("2026-11-20T12:00:00.900Z");
  const bench = await openBench(database, { nowMs: () => nowMs });
  const { secret } = await bench.configure();
  bench.answer(status(503));
  const first = present(await bench.run(present(await bench.event())));
  nowMs += 400_000;
  await bench.run(first.message);
  const [one, two] = bench.requests;
  assert(one !== undefined && two !== undefined);
  assert.equal(one.headers["x-svc-webhook-ts"], "1795176000");
  assert.equal(two.headers["x-svc-webhook-ts"], "1795176400");
  assert.notEqual(one.headers["x-svc-webhook-signature"], two.headers["x-svc-webhook-signature"]);
  assert(verifyWebhook({ ...two, secret: present(secret), nowMs }).ok);
  assert(!verifyWebhook({ ...one, secret: present(secret), nowMs }).ok, "the first one is stale by now");
});

test("webhooks.success: only 2xx is success; a redirect is a failure like any other", async () => {
  const bench = await openBench(database);
  await bench.configure();
  for (const code of [200, 201, 204, 299]) {
    bench.answer(status(code));
    const message = present(await bench.event());
    assert.equal(await bench.run(message), null, String(code));
    assert.equal((await delivery(bench, message)).status, "delivered");
  }
  for (const code of [199, 300, 301, 302, 304, 307, 400, 401, 404, 408, 409, 500, 503]) {
    bench.answer(status(code));
    const message = present(await bench.event());
    assert.ok(await bench.run(message), String(code));
    const [attempt] = (await delivery(bench, message)).attempts;
    assert.deepEqual([attempt?.outcome, attempt?.status_code], ["http_status", code]);
  }
});

test("webhooks.throttled, webhooks.retry-after: after a timeout or 429 at least 60 s, and Retry-After up to twice the step", async () => {
  const bench = await openBench(database);
  await bench.configure();
  const delayAfter = async (answer: Parameters<Bench["answer"]>[0]) => {
    bench.answer(answer);
    return present(await bench.run(present(await bench.event()))).delaySeconds;
  };
  assert.equal(await delayAfter({ kind: "timeout" }), 60);
  assert.equal(await delayAfter(status(429)), 60);
  assert.equal(await delayAfter(status(429, "100")), 100);
  assert.equal(await delayAfter(status(429, "86400")), 120);
  assert.equal(await delayAfter(status(503, "8")), 8);
  assert.equal(await delayAfter(status(503, "86400")), 10);
  for (const kind of ["connection", "tls", "address_not_allowed"] as const) assert.equal(await delayAfter({ kind }), 5);
});

test("webhooks.disable-gone: 410 disables the webhook at once and ends the delivery; its owner can read why", async () => {
  const bench = await openBench(database);
  await bench.configure();
  const waiting = present(await bench.event());
  bench.answer(status(410));
  const message = present(await bench.event());
  assert.equal(await bench.run(message), null);
  const view = await describeWebhook(bench.services, bench.workspaceId);
  assert.deepEqual([view.enabled, view.disabled_reason], [false, "gone"]);
  assert.deepEqual(
    [(await delivery(bench, message)).status, (await delivery(bench, message)).ended_by],
    ["failed", "gone"],
  );
  const audit = present((await bench.audits()).at(-1));
  assert.deepEqual(
    [audit.action, audit.actor_key_id, JSON.stringify(audit.after).includes('"disabled_reason":"gone"')],
    ["stt_webhook.disabled", null, true],
  );
  const requests = bench.requests.length;
  assert.equal(await bench.run(waiting), null);
  assert.equal(bench.requests.length, requests, "nothing is sent to a disabled webhook");
  assert.equal((await delivery(bench, waiting)).ended_by, "disabled");
  const again = await bench.configure();
  assert.deepEqual([again.enabled, again.disabled_reason, again.disabled_at], [true, null, null]);
});

test("webhooks.disable-failing: five days of nothing but failures disable the webhook, and one success in between restarts the clock", async () => {
  const bench = await openBench(database);
  await bench.configure();
  const attempt = async (answer: Parameters<Bench["answer"]>[0], atSeconds: number) => {
    await shift(atSeconds);
    bench.answer(answer);
    const message = present(await bench.event());
    await bench.run(message);
    return { view: await describeWebhook(bench.services, bench.workspaceId), message };
  };
  try {
    assert.ok((await attempt(status(500), 0)).view.failing_since);
    assert.equal((await attempt(status(500), 4 * DAY)).view.enabled, true);
    assert.equal((await attempt(ok, 4.5 * DAY)).view.failing_since, null);
    assert.equal((await attempt(status(500), 5 * DAY)).view.enabled, true);
    assert.equal((await attempt({ kind: "timeout" }, 10 * DAY - HOUR)).view.enabled, true);
    const { view, message } = await attempt({ kind: "connection" }, 10 * DAY + HOUR);
    assert.deepEqual([view.enabled, view.disabled_reason], [false, "failing"]);
    assert.equal((await delivery(bench, message)).ended_by, "disabled");
    assert.equal(present((await bench.audits()).at(-1)).action, "stt_webhook.disabled");
    assert.equal(await bench.event(), null, "no new delivery while it is disabled");
    const again = await bench.configure();
    assert.deepEqual([again.enabled, again.failing_since], [true, null]);
  } finally {
    await shift(0);
  }
});

test("webhooks.enable-again: a failure under settings that have changed meanwhile does not count for the new ones", async () => {
  const bench = await openBench(database);
  await bench.configure();
  bench.answer(async () => {
    await bench.configure({ url: "https://elsewhere.example/" });
    return status(410);
  });
  const message = present(await bench.event());
  const next = present(await bench.run(message));
  const view = await describeWebhook(bench.services, bench.workspaceId);
  assert.deepEqual([view.enabled, view.failing_since, view.url], [true, null, "https://elsewhere.example/"]);
  bench.answer(ok);
  await bench.run(next.message);
  assert.equal(bench.requests.at(-1)?.url, "https://elsewhere.example/");
});

test("webhooks.receiver-concurrency: at most four deliveries run at once to one receiver, and the fifth waits its turn", async () => {
  const bench = await openBench(database);
  await bench.configure();
  const release = Promise.withResolvers<void>();
  const arrived = Promise.withResolvers<void>();
  let running = 0;
  bench.answer(async () => {
    running += 1;
    if (running === 4) arrived.resolve();
    await release.promise;
    return ok;
  });
  const messages = [];
  for (let n = 0; n < 5; n += 1) messages.push(present(await bench.event()));
  const [fifth, ...four] = messages.toReversed();
  const runs = four.map((message) => bench.run(message));
  await arrived.promise;
  const other = await openBench(database);
  await other.configure();
  await other.run(present(await other.event()));
  assert.equal(other.requests.length, 1, "another workspace's receiver is not held up");
  const again = await bench.run(present(fifth));
  assert.deepEqual(again?.message, fifth, "the same message comes back a little later");
  assert.equal(running, 4);
  release.resolve();
  await Promise.all(runs);
  bench.answer(ok);
  assert.equal(await bench.run(present(fifth)), null);
  assert.equal((await delivery(bench, present(fifth))).status, "delivered");
});

test("webhooks.failing-receivers: receivers that fail wait in a queue of their own, and leave it when they work", async () => {
  const bench = await openBench(database);
  await bench.configure();
  bench.answer(status(500));
  const first = present(await bench.run(present(await bench.event())));
  await bench.event();
  assert.equal(bench.sent.at(-1)?.lane, AGAIN_QUEUE);
  bench.answer(ok);
  await bench.run(first.message);
  await bench.event();
  assert.equal(bench.sent.at(-1)?.lane, FIRST_QUEUE);
});

test("webhooks.at-least-once: a process that dies between the receiver's answer and its record delivers the same event id again", async () => {
  const bench = await openBench(database);
  await bench.configure();
  const message = present(await bench.event());
  const claim = await bench.services.writes.claim(message, FIRST_QUEUE);
  assert(claim.kind === "claimed");
  await attemptDelivery(bench.services, claim.delivery);
  const busy = await bench.run(message);
  assert.deepEqual(busy?.message, message, "while the dead sender's claim lasts, the message waits");
  assert.equal(bench.requests.length, 1);
  try {
    await shift(60);
    assert.equal(await bench.run(message), null);
  } finally {
    await shift(0);
  }
  assert.equal(bench.requests.length, 2);
  const [one, two] = bench.requests;
  assert.equal(one?.headers["x-svc-webhook-id"], two?.headers["x-svc-webhook-id"]);
  assert.equal(one?.body, two?.body);
  assert.equal((await delivery(bench, message)).status, "delivered");
});

test("webhooks.stop: a process that stops aborts its attempts, and their messages come again without a delay", async () => {
  const bench = await openBench(database);
  await bench.configure();
  const message = present(await bench.event());
  const stop = new AbortController();
  bench.answer(async ({ signal }) => {
    stop.abort(new Error("stopping"));
    signal?.throwIfAborted();
    return ok;
  });
  await assert.rejects(deliver(bench.services, message, { signal: stop.signal }), /stopping/);
  assert.deepEqual((await delivery(bench, message)).attempts, []);
  bench.answer(ok);
  assert.equal(await bench.run(message), null);
  assert.equal((await delivery(bench, message)).status, "delivered");
});

test("webhooks.stale-messages: a message that comes twice, late or for an earlier attempt sends nothing", async () => {
  const bench = await openBench(database);
  await bench.configure();
  bench.answer(status(500));
  const first = present(await bench.event());
  const second = present(await bench.run(first)).message;
  assert.equal(await bench.run(first), null);
  assert.equal(bench.requests.length, 1);
  bench.answer(ok);
  await bench.run(second);
  assert.equal(await bench.run(second), null);
  assert.equal(bench.requests.length, 2);
  assert.equal(
    await bench.run({ ...second, workspaceId: newId("workspace") }),
    null,
    "nor one that names another tenant",
  );
});

test("webhooks.redeliver, webhooks.event-id: redeliver sends the same event under the same id, with the whole schedule", async () => {
  const bench = await openBench(database);
  await bench.configure();
  const message = present(await bench.event());
  await bench.run(message);
  const actor = newId("key");
  const wanted = { workspaceId: bench.workspaceId, deliveryId: message.deliveryId, actor };
  const view = await redeliver(bench.services, wanted);
  assert.deepEqual([view.status, view.finished_at, view.attempts.length], ["pending", null, 1]);
  const due = present(bench.sent.at(-1));
  assert.equal(due.lane, FIRST_QUEUE);
  bench.answer(status(500));
  assert.equal(present(await bench.run(due.message)).delaySeconds, 5);
  bench.answer(ok);
  await bench.run(present(bench.sent.at(-1)).message);
  const end = await delivery(bench, message);
  assert.deepEqual(
    end.attempts.map(({ number, status_code: code }) => [number, code]),
    [
      [1, 204],
      [2, 500],
      [3, 204],
    ],
  );
  assert.equal(new Set(bench.requests.map(({ headers }) => headers["x-svc-webhook-id"])).size, 1);
  assert.deepEqual(
    [(await bench.audits()).at(-1)?.action, (await bench.audits()).at(-1)?.actor_key_id],
    ["stt_webhook.redelivered", actor],
  );
  await assert.rejects(redeliver(bench.services, { ...wanted, deliveryId: newId("delivery") }), /no such delivery/);
  const other = await openBench(database);
  await other.configure();
  await assert.rejects(redeliver(other.services, { ...wanted, workspaceId: other.workspaceId }), /no such delivery/);
  await bench.configure({ enabled: false });
  await assert.rejects(redeliver(bench.services, wanted), /disabled/);
});

test("webhooks.redeliver-overtakes: an attempt that a redelivery overtakes is logged and decides nothing", async () => {
  const bench = await openBench(database);
  await bench.configure();
  const message = present(await bench.event());
  const wanted = { workspaceId: bench.workspaceId, deliveryId: message.deliveryId, actor: newId("key") };
  bench.answer(async () => {
    await redeliver(bench.services, wanted);
    return status(500);
  });
  await bench.run(message);
  assert.equal(bench.sent.length, 2, "the redelivery's message alone");
  const view = await delivery(bench, message);
  assert.deepEqual([view.status, view.attempts.length], ["pending", 1]);
  bench.answer(status(500));
  assert.equal(present(await bench.run(present(bench.sent.at(-1)).message)).delaySeconds, 5, "its own first step");
});

test("webhooks.test-delivery: a test is one attempt about a job that does not exist, marked as a test, and changes nothing", async () => {
  const bench = await openBench(database);
  await bench.configure({ enabled: false });
  bench.answer({ kind: "answer", statusCode: 410, retryAfter: undefined, bodyStart: "a\u0000b\u001b[31m\ud800" });
  const view = await testWebhook(bench.services, bench.workspaceId);
  assert.deepEqual([view.test, view.status, view.ended_by, view.attempts.length], [true, "failed", "gone", 1]);
  assert.equal(view.attempts[0]?.response, "a\uFFFDb\uFFFD[31m\uFFFD");
  assert.equal(present(bench.requests[0]).headers["x-svc-webhook-test"], "true");
  assert.deepEqual(bench.sent, []);
  await bench.configure();
  bench.answer(status(500));
  assert.equal((await testWebhook(bench.services, bench.workspaceId)).ended_by, "attempts");
  const webhook = await describeWebhook(bench.services, bench.workspaceId);
  assert.deepEqual([webhook.enabled, webhook.failing_since], [true, null]);
  bench.answer(async () => {
    await assert.rejects(testWebhook(bench.services, bench.workspaceId), { code: "CONCURRENCY_LIMITED" });
    return ok;
  });
  assert.equal((await testWebhook(bench.services, bench.workspaceId)).status, "delivered");
});

test("webhooks.pending-when-disabled: when the webhook is deleted, pending deliveries are given up and the log stays", async () => {
  const bench = await openBench(database);
  await bench.configure();
  const message = present(await bench.event());
  await deleteWebhook(bench.services, { workspaceId: bench.workspaceId, actor: newId("key"), precondition: null });
  assert.equal(await bench.run(message), null);
  assert.equal(bench.requests.length, 0);
  assert.equal((await delivery(bench, message)).ended_by, "deleted");
  await assert.rejects(describeWebhook(bench.services, bench.workspaceId), { code: "NOT_FOUND" });
  await assert.rejects(testWebhook(bench.services, bench.workspaceId), { code: "NOT_FOUND" });
});

test("webhooks.log, webhooks.tenancy: the log is listed newest first, page by page, by state, and to its own workspace", async () => {
  const bench = await openBench(database);
  await bench.configure();
  const made: string[] = [];
  for (let n = 0; n < 5; n += 1) {
    const message = present(await bench.event());
    bench.answer(n % 2 === 0 ? ok : status(410));
    if (n % 2 === 1) await bench.configure();
    await bench.run(message);
    if (n % 2 === 1) await bench.configure();
    made.unshift(message.deliveryId);
  }
  const ids: string[] = [];
  let cursor: string | null = null;
  do {
    const page = await listDeliveries(database, bench.workspaceId, { status: null, limit: 2, cursor });
    assert.ok(page.data.length <= 2);
    ids.push(...page.data.map(({ id }) => id));
    cursor = page.next_cursor;
  } while (cursor !== null);
  assert.deepEqual(ids, made);
  const failed = await listDeliveries(database, bench.workspaceId, { status: "failed", limit: 100, cursor: null });
  assert.deepEqual(
    failed.data.map(({ id }) => id),
    made.filter((_id, index) => index % 2 === 1),
  );
  const other = await openBench(database);
  const theirs = await listDeliveries(database, other.workspaceId, { status: null, limit: 100, cursor: null });
  assert.deepEqual(theirs.data, []);
});

test("webhooks.lost-message, webhooks.log-retention: a delivery whose message was lost is started again; after seven days the log forgets what has ended", async () => {
  const bench = await openBench(database);
  await bench.configure();
  const message = present(await bench.event());
  const done = present(await bench.event());
  await bench.run(done);
  const sent = bench.sent.length;
  const wake = async () => {
    await sweepWebhooks(bench.services);
    return bench.sent.slice(sent).filter(({ message: { deliveryId } }) => deliveryId === message.deliveryId);
  };
  try {
    assert.deepEqual(await wake(), []);
    await shift(11 * 60);
    assert.deepEqual(
      (await wake()).map((entry) => entry.message),
      [message],
    );
    assert.equal((await wake()).length, 1, "once");
    await shift(7 * DAY + HOUR);
    await wake();
    assert.equal(await describeDelivery(database, bench.workspaceId, done.deliveryId), null);
    assert.equal((await delivery(bench, message)).status, "pending", "what is not over stays");
    await sql`insert into webhook_deliveries (id, workspace_id, event_id, job_id, job_status, occurred_at, state, created_at, finished_at)
      select 'dlv_old_' || n, ${bench.workspaceId}, 'evt_old_' || n, 'job_old', 'succeeded', patchbay_now(), 'delivered',
        patchbay_now() - interval '8 days', patchbay_now() from generate_series(1, 450) as n`.execute(database.db);
    await wake();
    const left = await listDeliveries(database, bench.workspaceId, { status: "delivered", limit: 1, cursor: null });
    assert.deepEqual(left.data, [], "however many");
  } finally {
    await shift(0);
  }
});

/** Events of jobs numbered from one to another; `age` in seconds, of number n. */
async function addEvents(bench: Bench, from: number, to: number, age: RawBuilder<unknown>): Promise<void> {
  const numbers = sql`generate_series(${from}::int, ${to}::int) as n`;
  const id = (prefix: string) => sql`${`${prefix}_${bench.appId}_`}::text || lpad(n::text, 5, '0')`;
  await sql`insert into jobs (id, workspace_id, app_id, request_id, task, purpose, deadline_at)
    select ${id("job")}, ${bench.workspaceId}, ${bench.appId}, 'req', 'transcribe', '{}', patchbay_now() from ${numbers}`.execute(
    database.db,
  );
  await sql`insert into webhook_events (id, workspace_id, app_id, job_id, type, status, occurred_at)
    select ${id("evt")}, ${bench.workspaceId}, ${bench.appId}, ${id("job")}, 'transcription.job.succeeded', 'succeeded',
      date_trunc('second', patchbay_now()) - (${age}) * interval '1 second' from ${numbers}`.execute(database.db);
}

const numberOf = (id: string) => Number(id.slice(-5));

test("webhooks.listen-resume: a listener that was disconnected for long gets every event since, each once, however many share a moment", async () => {
  const bench = await openBench(database);
  await addEvents(bench, 1, 1_201, sql`ceil((1201 - n) / 600.0) * 300`);
  const stop = new AbortController();
  let largest = 0;
  const watched: typeof bench.services.database = {
    ...bench.services.database,
    inWorkspace: async (workspaceId, work) => {
      const answer = await database.inWorkspace(workspaceId, work);
      if (Array.isArray(answer)) largest = Math.max(largest, answer.length);
      return answer;
    },
  };
  const services = { ...bench.services, database: watched };
  const numbers: number[] = [];
  const after = `evt_${bench.appId}_00001`;
  for await (const { event, data } of listen(services, { ...bench, after, until: stop.signal })) {
    if (event === "ready") continue;
    numbers.push(numberOf(data.id));
    if (numbers.length === 1_200) await addEvents(bench, 1_202, 1_202, sql`0`);
    if (numbers.length === 1_201) stop.abort();
  }
  assert.deepEqual(
    numbers,
    Array.from({ length: 1_201 }, (_, index) => index + 2),
  );
  assert.equal(largest, 500, "of all that waits so much is held at once");
});

test("webhooks.listen-new-events: what had ended before a listener started is not sent, however often late events are looked for", async () => {
  const bench = await openBench(database);
  await addEvents(bench, 1, 2, sql`(n - 1) * 50 + 30`);
  const stop = new AbortController();
  let looks = 0;
  const counted: typeof bench.services.database = {
    ...bench.services.database,
    inWorkspace: async (workspaceId, work) => {
      looks += 1;
      if (looks === 6) await addEvents(bench, 3, 3, sql`0`);
      return database.inWorkspace(workspaceId, work);
    },
  };
  const services = { ...bench.services, database: counted };
  for await (const { event, data } of listen(services, { ...bench, after: null, until: stop.signal })) {
    if (event === "ready") continue;
    assert.equal(numberOf(data.id), 3);
    stop.abort();
  }
  assert.ok(looks >= 6);
});
