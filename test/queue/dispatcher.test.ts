// How many statements the dispatcher needs to give each of many groups a slot.
import assert from "node:assert/strict";
import { EventEmitter, once } from "node:events";
import { test } from "node:test";
import { type Db, PgBoss } from "pg-boss";
import { preparedOn } from "../../src/queue/boss-database.ts";
import { startDispatcher } from "../../src/queue/dispatcher.ts";
import { createQueue } from "../../src/queue/queue.ts";
import { bypassRls } from "../../src/storage/system.ts";
import { openTestDatabase } from "../harness/postgres/database.ts";

const NAME = "turns";
const SLOTS = 32;
const GROUPS = 30;
const BACKLOG = 40;

test("jobs.fairness: groups without a slot are served before a backlog, in statements whose number does not grow with the groups", async (t) => {
  const database = await openTestDatabase();
  t.after(() => database.close());
  const queue = createQueue({
    database,
    queues: { [NAME]: { retryLimit: 0, expireSeconds: 60 } },
    onError: () => undefined,
  });
  await queue.start();
  t.after(() => queue.stop());
  const message = (groupId: string) => ({ data: { groupId }, groupId });
  await queue.sendAll(
    NAME,
    Array.from({ length: BACKLOG }, () => message("large")),
  );
  await queue.sendAll(
    NAME,
    Array.from({ length: GROUPS }, (_, index) => message(`small ${index}`)),
  );

  let fetches = 0;
  const prepared = preparedOn(bypassRls(database, "claim").db);
  const db: Db = {
    executeSql: (text, values) => {
      if (/skip locked/iu.test(text)) fetches += 1;
      return prepared.executeSql(text, values);
    },
  };
  const boss = new PgBoss({ db, schema: "pgboss", migrate: false, supervise: false, schedule: false });
  await boss.start();
  t.after(() => boss.stop({ graceful: false }));
  const events = new EventEmitter();
  const started: string[] = [];
  const dispatcher = startDispatcher({
    boss,
    db,
    name: NAME,
    concurrency: SLOTS,
    perGroup: 24,
    pollMs: 3_600_000,
    heartbeatSeconds: null,
    onError: (error) => events.emit("error", error),
    handler: async ({ data, signal }) => {
      started.push((data as { groupId: string }).groupId);
      if (started.length === SLOTS) events.emit("full");
      await once(signal, "abort");
    },
  });
  await once(events, "full");
  await dispatcher.stop(0);
  const large = started.filter((groupId) => groupId === "large");
  assert.equal(new Set(started).size, GROUPS + 1);
  assert.equal(large.length, SLOTS - GROUPS);
  assert.ok(fetches <= 5, `${fetches} fetches`);
});
