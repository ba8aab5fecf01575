// Fetches that are skipped because nothing waits, and messages of several groups that are fetched together.
import assert from "node:assert/strict";
import { EventEmitter, once } from "node:events";
import { after, before, test } from "node:test";
import { type CompiledQuery, sql } from "kysely";
import { createBacklog } from "../../src/queue/backlog.ts";
import { preparedOn } from "../../src/queue/boss-database.ts";
import { fetchOnePerGroup } from "../../src/queue/fetch-one-per-group.ts";
import { createQueue, type WorkOptions } from "../../src/queue/queue.ts";
import { bypassRls } from "../../src/storage/system.ts";
import { openTestDatabase, type TestDatabase, withSystemAccess } from "../harness/postgres/database.ts";

let database: TestDatabase;
before(async () => {
  database = await openTestDatabase();
});
after(() => database.close());

test("jobs.queue-wakeup: after a fetch that found all messages but those of some groups, only a free place of one of these or a new message causes another", () => {
  const backlog = createBacklog();
  backlog.search(["a", "b"])?.foundAll([]);
  assert.equal(backlog.search(["a", "b"]), null);
  assert.equal(backlog.search(["a", "b", "c"]), null);
  assert.notEqual(backlog.search(["a"]), null, "b has a free place");
  backlog.news();
  assert.notEqual(backlog.search(["a", "b"]), null);
});

test("jobs.queue-wakeup: a message that comes during a fetch is not taken for one that the fetch has found", () => {
  const backlog = createBacklog();
  const search = backlog.search([]);
  backlog.news();
  search?.foundAll([]);
  assert.notEqual(backlog.search([]), null);
});

/** Works off messages that wait already, and returns how many fetches that took. */
async function fetchesFor(
  groups: readonly string[],
  options: Omit<WorkOptions, "handler" | "pollMs">,
): Promise<number> {
  let fetches = 0;
  const { db } = database;
  // The queue's statements pass no plugin.
  const counted = new Proxy(db, {
    get: (target, name) =>
      name !== "executeQuery"
        ? Reflect.get(target, name, target)
        : (query: CompiledQuery) => {
            if (/skip locked/iu.test(query.sql)) fetches += 1;
            return target.executeQuery(query);
          },
  });
  const queue = createQueue({
    database: withSystemAccess(database, { db: counted }),
    queues: { work: { retryLimit: 2, expireSeconds: 60 } },
    onError: () => undefined,
  });
  await queue.start();
  try {
    await sql`delete from pgboss.job`.execute(database.db);
    await queue.sendAll(
      "work",
      groups.map((groupId) => ({ data: {}, groupId })),
    );
    const events = new EventEmitter();
    let handled = 0;
    const handler = async () => {
      handled += 1;
      events.emit("handled");
    };
    queue.work("work", { ...options, pollMs: 3_600_000, handler });
    while (handled < groups.length) await once(events, "handled");
    return fetches;
  } finally {
    await queue.stop();
  }
}

/** A late notification and the last searches, which find nothing. */
const FURTHER = 5;

test("jobs.queue-wakeup: a message of a group with one place costs one fetch", async () => {
  const groups = Array.from({ length: 12 }, () => "one");
  const fetches = await fetchesFor(groups, { concurrency: 4, perGroup: 1 });
  assert.ok(fetches <= groups.length + FURTHER, `${fetches} fetches`);
});

test("webhooks.failing-receivers: first messages of many receivers are fetched together", async () => {
  const groups = Array.from({ length: 24 }, (_, index) => `group ${index}`);
  const fetches = await fetchesFor(groups, { concurrency: 100, perGroup: 4 });
  assert.ok(fetches <= FURTHER, `${fetches} fetches`);
});

/** Begins messages of these groups while another process is just fetching the first one, until so many have begun. Returns their numbers. */
async function begunNextToAnother(
  groups: readonly string[],
  { begun, ...options }: Omit<WorkOptions, "handler" | "pollMs"> & { readonly begun: number },
): Promise<ReadonlySet<number>> {
  const queue = createQueue({
    database,
    queues: { shared: { retryLimit: 2, expireSeconds: 60 } },
    onError: () => undefined,
  });
  await queue.start();
  const events = new EventEmitter();
  const numbers = new Set<number>();
  const handler: WorkOptions["handler"] = async ({ data, signal }) => {
    numbers.add((data as { n: number }).n);
    events.emit("begun");
    await once(signal, "abort");
  };
  try {
    await sql`delete from pgboss.job where name = 'shared'`.execute(database.db);
    for (const [n, groupId] of groups.entries()) await queue.send("shared", { n }, { groupId });
    await bypassRls(database, "claim").transaction(async (tx) => {
      // The other process has the first one, and does not take the others.
      const others = await fetchOnePerGroup(preparedOn(tx), "shared", [], 8);
      assert.equal(others.jobs.length, new Set(groups.slice(0, 8)).size);
      queue.work("shared", { ...options, pollMs: 3_600_000, handler });
      while (numbers.size < begun) await once(events, "begun");
    });
    return numbers;
  } finally {
    await queue.stop();
  }
}

test("jobs.queue-wakeup: messages of a group that another process is just fetching from are found without a poll", {
  timeout: 20_000,
}, async () => {
  const groups = ["one", "one", "one", "one"];
  assert.deepEqual(await begunNextToAnother(groups, { concurrency: 8, perGroup: 6, begun: 3 }), new Set([1, 2, 3]));
});

test("jobs.fairness: a group without a slot comes before the backlog of a group that another process is just fetching from, too", {
  timeout: 20_000,
}, async () => {
  const groups = [...Array.from({ length: 8 }, () => "one"), "two"];
  assert.deepEqual(await begunNextToAnother(groups, { concurrency: 2, perGroup: 2, begun: 2 }), new Set([1, 8]));
});

test("jobs.queue-wakeup: a deferred message that was sent with others begins without a poll", async () => {
  const queue = createQueue({
    database,
    queues: { several: { retryLimit: 2, expireSeconds: 60 } },
    onError: () => undefined,
  });
  await queue.start();
  try {
    const begun: number[] = [];
    const events = new EventEmitter();
    queue.work("several", {
      concurrency: 4,
      pollMs: 3_600_000,
      handler: async ({ data }) => {
        begun.push((data as { n: number }).n);
        events.emit("begun");
      },
    });
    await queue.sendAll("several", [{ data: { n: 2 }, startAfter: 0.5 }, { data: { n: 1 } }]);
    while (begun.length < 2) await once(events, "begun");
    assert.deepEqual(new Set(begun), new Set([1, 2]));
  } finally {
    await queue.stop();
  }
});
