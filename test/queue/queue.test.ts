// The queue: messages come with our transactions, wake their worker, come again after a failure, share the slots.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { EventEmitter, once } from "node:events";
import { after, afterEach, before, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { sql } from "kysely";
import { createQueue, type Message, type Queue } from "../../src/queue/queue.ts";
import { openSystemDatabase, openTestDatabase, type TestDatabase } from "../harness/postgres/database.ts";
import { until } from "../harness/until.ts";
import { startFaultProxy } from "../harness/fault-proxy.ts";

let database: TestDatabase;
const open: Queue[] = [];
before(async () => {
  database = await openTestDatabase();
});
after(() => database.close());
afterEach(async () => {
  for (const queue of open.splice(0)) await queue.stop();
});

test("jobs.queue-transactional: a message of a transaction that rolled back is never delivered, one that committed is", async () => {
  const queue = await start();
  await assert.rejects(
    database.transaction(async (tx) => {
      await queue.send("work", { n: 1 }, {}, tx);
      throw new Error("changed my mind");
    }),
  );
  await database.transaction((tx) => queue.send("work", { n: 2 }, {}, tx));
  const seen = collect(queue, { concurrency: 1 });
  await seen.until(1);
  assert.deepEqual(seen.numbers, [2]);
});

test("jobs.queue-wakeup: a notification wakes the worker, long before the next poll", async () => {
  const queue = await start();
  const seen = collect(queue, { concurrency: 2, pollMs: 3_600_000 });
  await queue.send("work", { n: 1 });
  await seen.until(1);
  await database.transaction((tx) => queue.send("work", { n: 2 }, {}, tx));
  await seen.until(2);
  assert.deepEqual(seen.numbers, [1, 2]);
});

test("jobs.queue-wakeup: a backlog is processed without a poll between two messages", async () => {
  const queue = await start();
  await Promise.all(Array.from({ length: 30 }, (_, n) => queue.send("work", { n })));
  const seen = collect(queue, { concurrency: 4, pollMs: 3_600_000 });
  await seen.until(30);
  assert.deepEqual(
    seen.numbers.toSorted((a, b) => a - b),
    Array.from({ length: 30 }, (_, n) => n),
  );
});

test("jobs.queue-connection: the queue detects that a connection of its own fell silent, and continues over another", async (t) => {
  const proxy = await startFaultProxy(database.direct.databaseUrl);
  t.after(() => proxy.close());
  const behind = await openSystemDatabase({ databaseUrl: proxy.url });
  t.after(() => behind.close());
  const queue = createQueue({
    database: behind,
    queues: { silent: { retryLimit: 0, expireSeconds: 60 } },
    onError: () => undefined,
    silence: { silentMs: 100, lookMs: 5_000 },
  });
  await queue.start();
  t.after(() => queue.stop());
  await queue.send("silent", { n: 1 });
  proxy.set({ kind: "half-open" });
  await assert.rejects(queue.send("silent", { n: 2 }));
  proxy.clear();
  await queue.send("silent", { n: 3 });
});

test("jobs.fairness: a group never has more than its share of the slots, and another's message passes its backlog", async () => {
  const queue = await start();
  const events = new EventEmitter();
  const running = new Map<string, number>();
  const most = { large: 0 };
  await Promise.all(Array.from({ length: 20 }, () => queue.send("work", { group: "large" }, { groupId: "large" })));
  await queue.send("work", { group: "small" }, { groupId: "small" });
  const smallCame = once(events, "small");
  const release = once(events, "release");
  queue.work("work", {
    concurrency: 4,
    perGroup: 3,
    handler: async ({ data }) => {
      const { group } = data as { group: string };
      running.set(group, (running.get(group) ?? 0) + 1);
      most.large = Math.max(most.large, running.get("large") ?? 0);
      events.emit(group);
      await release;
      running.set(group, (running.get(group) ?? 0) - 1);
    },
  });
  await smallCame;
  while (most.large < 3) await once(events, "large");
  events.emit("release");
  assert.equal(most.large, 3);
});

for (const [concurrency, perGroup] of [
  [4, 3],
  [1, 1],
] as const) {
  test(`jobs.fairness: of ${concurrency} slots, a third group's single message gets one within a turn of each, however long the backlogs of two others are`, async () => {
    const queue = await start();
    for (const group of ["one", "two"])
      await Promise.all(Array.from({ length: 20 }, () => queue.send("work", { group }, { groupId: group })));
    const events = new EventEmitter();
    const taken: string[] = [];
    const running: (() => void)[] = [];
    queue.work("work", {
      concurrency,
      perGroup,
      pollMs: 3_600_000,
      handler: async ({ data, signal }) => {
        const { promise, resolve } = Promise.withResolvers<void>();
        running.push(resolve);
        signal.addEventListener("abort", () => resolve());
        taken.push((data as { group: string }).group);
        events.emit("taken");
        await promise;
      },
    });
    const until = async (count: number) => {
      while (taken.length < count) await once(events, "taken");
    };
    await until(concurrency);
    assert.deepEqual(new Set(taken), new Set(concurrency === 1 ? ["one"] : ["one", "two"]));
    await queue.send("work", { group: "single" }, { groupId: "single" });
    // Notifications come in order: with this one, that of the message has been heard.
    const heard = Promise.withResolvers<void>();
    queue.subscribe((topic) => topic === "sent" && heard.resolve());
    await queue.publish("sent");
    await heard.promise;
    for (let turn = 1; turn <= 2; turn += 1) {
      running.shift()?.();
      await until(concurrency + turn);
    }
    assert.ok(taken.includes("single"), taken.join(" "));
  });
}

test("jobs.queue-transactional: in a keyed queue one message of each key waits, and one that was taken makes room for the next", async () => {
  const queue = createQueue({
    database,
    queues: { keyed: { retryLimit: 0, expireSeconds: 60, isKeyed: true } },
    onError: () => undefined,
  });
  open.push(queue);
  await queue.start();
  for (const key of ["a", "a", "b", "a"]) await queue.send("keyed", { key }, { key });
  const taken: unknown[] = [];
  const events = new EventEmitter();
  queue.work("keyed", {
    concurrency: 4,
    handler: async ({ data, signal }) => {
      taken.push((data as { key: string }).key);
      events.emit("taken");
      await once(signal, "abort");
    },
  });
  while (taken.length < 2) await once(events, "taken");
  await queue.send("keyed", { key: "a" }, { key: "a" });
  while (taken.length < 3) await once(events, "taken");
  assert.deepEqual([taken.slice(0, 2).includes("b"), taken.filter((key) => key === "a").length], [true, 2]);
});

test("jobs.queue-transactional: a message whose handler threw comes again", async () => {
  const queue = await start();
  let calls = 0;
  const events = new EventEmitter();
  const done = once(events, "done");
  queue.work("work", {
    concurrency: 1,
    pollMs: 50,
    handler: async () => {
      calls += 1;
      if (calls === 1) throw new Error("the first time fails");
      events.emit("done");
    },
  });
  await queue.send("work", {});
  await done;
  assert.equal(calls, 2);
});

test("jobs.queue-wakeup: a deferred message is noticed when it is due, to fractions of a second, long before the next poll", async () => {
  const queue = await start();
  const seen = collect(queue, { concurrency: 1, pollMs: 3_600_000 });
  const beganAt = performance.now();
  await queue.send("work", { n: 1 }, { startAfter: 1.25 });
  await seen.until(1);
  assert.ok(performance.now() - beganAt >= 1_250, "not before it is due");
});

test("jobs.queue-wakeup: a deferred message waits for its time", async () => {
  const queue = await start();
  const seen = collect(queue, { concurrency: 1, pollMs: 50 });
  await queue.send("work", { n: 1 }, { startAfter: 3_600 });
  await queue.send("work", { n: 2 });
  await seen.until(1);
  assert.deepEqual(seen.numbers, [2]);
  await sql`update pgboss.job set start_after = now() where data ->> 'n' = '1'`.execute(database.db);
  await seen.until(2);
});

test("jobs.fairness, jobs.queue-stop: a handler that frees its slot lets the next message begin, at most four times as many as there are slots, and a stop waits for it", async () => {
  const queue = await start();
  const events = new EventEmitter();
  const begun: number[] = [];
  const { promise: release, resolve } = Promise.withResolvers<void>();
  for (let n = 1; n <= 9; n += 1) await queue.send("work", { n }, { groupId: "one" });
  let ended = 0;
  queue.work("work", {
    concurrency: 2,
    perGroup: 2,
    handler: async ({ data, freeSlot }) => {
      begun.push((data as { n: number }).n);
      events.emit("begun");
      freeSlot();
      await release;
      ended += 1;
    },
  });
  while (begun.length < 8) await once(events, "begun");
  // Another fetch has found no room.
  await queue.send("work", { n: 10 }, { groupId: "other" });
  assert.equal(begun.length, 8);
  const stopped = queue.stop({ graceMs: 60_000 });
  resolve();
  await stopped;
  assert.equal(ended, 8);
});

test("jobs.local-start, jobs.queue-stop: work without a message has a slot only while no message waits, within its group's share, and a stop waits for it", async () => {
  const queue = await start();
  assert.equal(queue.reserve("work", "one"), null, "this process does not work on the queue");
  const seen = collect(queue, { concurrency: 3, perGroup: 2 });
  const reserved = async (group: string) => {
    for (;;) {
      const slot = queue.reserve("work", group);
      if (slot !== null) return slot;
      await setImmediate();
    }
  };
  const first = await reserved("one");
  const second = await reserved("one");
  assert.equal(queue.reserve("work", "one"), null, "a group has its share");
  const other = await reserved("two");
  assert.equal(queue.reserve("work", "two"), null, "there is no slot");
  await queue.send("work", { n: 1 }, { groupId: "two" });
  other.release();
  await seen.until(1);
  second.release();
  const freed = await reserved("one");
  const { promise: end, resolve } = Promise.withResolvers<void>();
  first.begin(async ({ freeSlot }) => {
    freeSlot();
    await end;
  });
  (await reserved("one")).release();
  let hasStopped = false;
  const stopped = queue.stop({ graceMs: 60_000 }).then(() => (hasStopped = true));
  assert.equal(queue.reserve("work", "one"), null, "it stops");
  resolve();
  await setImmediate();
  assert.equal(hasStopped, false);
  freed.release();
  await stopped;
});

test("jobs.queue-stop: a stop waits for running handlers, then aborts them", async () => {
  const queue = await start();
  const events = new EventEmitter();
  const started = once(events, "started");
  let aborted = false;
  queue.work("work", {
    concurrency: 1,
    handler: async ({ signal }: Message) => {
      events.emit("started");
      await once(signal, "abort");
      aborted = true;
    },
  });
  await queue.send("work", {});
  await started;
  await queue.stop({ graceMs: 10 });
  assert.ok(aborted);
});

test("jobs.queue-connection: a process that does not own the schema sends and works on what its owner created", async () => {
  const { direct } = database;
  const role = `lesser_${randomBytes(6).toString("hex")}`;
  const password = randomBytes(12).toString("hex");
  await sql.raw(`create role ${role} login password '${password}'`).execute(database.db);
  const lesser = new URL(direct.databaseUrl);
  lesser.username = role;
  lesser.password = password;
  const opened = await openSystemDatabase({ databaseUrl: lesser.href, migrateUrl: direct.databaseUrl });
  const errors: unknown[] = [];
  const queue = createQueue({
    database: opened,
    queues: { work: { retryLimit: 2, expireSeconds: 60 } },
    onError: (error) => errors.push(error),
  });
  await queue.start();
  const seen = collect(queue, { concurrency: 1 });
  await opened.transaction((tx) => queue.send("work", { n: 1 }, {}, tx));
  await seen.until(1);
  await queue.stop();
  await opened.close();
  assert.deepEqual(errors, []);
  return undefined;
});

test("jobs.queue-retention: completed messages are deleted after a minute, once a minute, and not once a day", async () => {
  const queue = await start({ superviseSeconds: 1 });
  const seen = collect(queue, { concurrency: 1 });
  await queue.send("work", { n: 1 });
  await seen.until(1);
  const count = async (): Promise<number> => {
    const { rows } = await sql<{ count: number }>`select count(*)::int as count from pgboss.job`.execute(database.db);
    return rows[0]?.count ?? -1;
  };
  await until(async () => {
    const { numAffectedRows } = await sql`update pgboss.job set completed_on = completed_on - interval '61 seconds'
      where completed_on is not null`.execute(database.db);
    return numAffectedRows === 1n;
  });
  await sql`update pgboss.queue set maintain_on = now() - interval '61 seconds'`.execute(database.db);
  await until(async () => (await count()) === 0);
});

async function start(options: { readonly superviseSeconds?: number } = {}): Promise<Queue> {
  const queue = createQueue({
    ...options,
    database,
    queues: { work: { retryLimit: 2, expireSeconds: 60 } },
    onError: () => undefined,
  });
  open.push(queue);
  await queue.start();
  await sql`delete from pgboss.job`.execute(database.db);
  return queue;
}

function collect(
  queue: Queue,
  options: { readonly concurrency: number; readonly perGroup?: number; readonly pollMs?: number },
) {
  const numbers: number[] = [];
  const events = new EventEmitter();
  queue.work("work", {
    ...options,
    handler: async ({ data }) => {
      numbers.push((data as { n: number }).n);
      events.emit("message");
    },
  });
  return {
    numbers,
    until: async (count: number) => {
      while (numbers.length < count) await once(events, "message");
    },
  };
}
