// Writing the request log to the database: nothing is lost while it is unavailable for a moment, one bad record delays no other, what is
// over its retention is removed, and a shutdown writes what is left.
import assert from "node:assert/strict";
import { after, before, beforeEach, mock, test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { sql } from "kysely";
import { pino } from "pino";
import { newId } from "../../src/contract/ids.ts";
import type { Principal } from "../../src/auth/principal.ts";
import { createRequestLog, type RequestLog } from "../../src/requests/log.ts";
import { postForm } from "../harness/client.ts";
import {
  openTestDatabase,
  shiftClock,
  type TestDatabase,
  withPlugin,
  withSystemAccess,
} from "../harness/postgres/database.ts";
import { startGateway } from "../harness/gateway.ts";
import { sessionCut } from "../harness/session-cut.ts";

let database: TestDatabase;
let log: RequestLog;
const logs: string[] = [];
before(async () => {
  database = await openTestDatabase();
});
beforeEach(async () => {
  logs.length = 0;
  await database.db.deleteFrom("requests").execute();
  log = open();
});
after(() => database.close());

function open(): RequestLog {
  const logger = pino({}, { write: (line: string) => logs.push(line) });
  return createRequestLog({ database, logger, keptDays: 30, nowMs: Date.now });
}

const noQuota = { requestsPerMinute: null, concurrent: null, audioSecondsPerHour: null, tokensPerMinute: null };
const routing = { route: null, audioInputOverride: null, defaultPurpose: null, audioPurposePolicy: null, purposes: [] };
const principal: Principal = {
  key: {
    id: newId("key"),
    prefix: "svc_live_",
    last4: "0000",
    name: "key",
    role: "member",
    createdAt: new Date(),
    expiresAt: null,
    quota: noQuota,
    routing,
  },
  workspace: { id: newId("workspace"), slug: "acme", plan: null },
  app: { id: newId("app"), name: "notes", quota: noQuota, routing },
  scopes: [],
  testMode: false,
};

function leave(endpoint = "POST /v1/chat", receivedAtMs = Date.now(), owner: Principal | null = principal): void {
  const opening = { requestId: newId("request"), endpoint, principal: owner, receivedAtMs, hasIdempotencyKey: false };
  log.open(opening).end({ status: 200, code: null });
}

const rows = () => database.db.selectFrom("requests").select(["endpoint", "at"]).execute();

test("requests.database-unavailable: records that could not be written are written when the database is available again, each once", async () => {
  await sql`alter table requests rename to requests_hidden`.execute(database.db);
  for (let count = 0; count < 700; count += 1) leave();
  await assert.rejects(log.flush());
  leave();
  await assert.rejects(log.flush());
  await sql`alter table requests_hidden rename to requests`.execute(database.db);
  await log.flush();
  await log.flush();
  assert.equal((await rows()).length, 701);
});

test("requests.write-batches: a full batch is written at once, and waits for no timer", async () => {
  mock.timers.enable({ apis: ["setInterval"] });
  try {
    log = open();
    for (let count = 0; count < 500; count += 1) leave();
    while ((await rows()).length < 500) await turn();
  } finally {
    mock.timers.reset();
  }
});

test("requests.write-batches: what comes while a batch is written waits for the next batch", async () => {
  let batches = 0;
  const db = withPlugin(database, {
    transformQuery: ({ node }) => node,
    transformResult: async ({ result }) => {
      batches += 1;
      if (batches < 10) leave("later");
      return result;
    },
  });
  log = createRequestLog({
    database: withSystemAccess(database, { db }),
    logger: pino({ enabled: false }),
    keptDays: 30,
    nowMs: Date.now,
  });
  leave("first");
  await log.flush();
  assert.deepEqual([batches, (await rows()).map(({ endpoint }) => endpoint)], [1, ["first"]]);
  await log.flush();
  assert.deepEqual([batches, (await rows()).map(({ endpoint }) => endpoint)], [2, ["first", "later"]]);
  // What is still waiting would be written by its timer, into the tables of another test.
  batches = 10;
  await log.close();
});

test("requests.write-again: records whose commit was never confirmed are written again, and stay as they are", async () => {
  let isLost = true;
  const db = withPlugin(database, {
    transformQuery: ({ node }) => node,
    transformResult: async ({ result }) => {
      if (!isLost) return result;
      isLost = false;
      throw sessionCut();
    },
  });
  const logger = pino({}, { write: (line: string) => logs.push(line) });
  log = createRequestLog({ database: withSystemAccess(database, { db }), logger, keptDays: 30, nowMs: Date.now });
  for (const endpoint of ["a", "b", "not a text\u0000", "c"]) leave(endpoint);
  await assert.rejects(log.flush(), { code: "ECONNRESET" });
  leave("d");
  await log.flush();
  assert.deepEqual((await rows()).map(({ endpoint }) => endpoint).toSorted(), ["a", "b", "c", "d"]);
  assert.equal(logs.filter((line) => line.includes("could not store a record")).length, 1);
});

test("requests.bad-record: a record that the database refuses is logged, and delays no other", async () => {
  for (const endpoint of ["a", "b", "not a text\u0000", "c", "d"]) leave(endpoint);
  await log.flush();
  assert.deepEqual((await rows()).map(({ endpoint }) => endpoint).toSorted(), ["a", "b", "c", "d"]);
  assert.equal(logs.filter((line) => line.includes("could not store a record")).length, 1);
});

test("requests.retention: records older than retention.request_days are removed, by the database's clock, and nothing else", async () => {
  const dayMs = 86_400_000;
  leave("old", Date.now() - 31 * dayMs);
  leave("young", Date.now() - 29 * dayMs);
  await log.flush();
  assert.equal(await log.sweep(), 1);
  assert.deepEqual(
    (await rows()).map(({ endpoint }) => endpoint),
    ["young"],
  );
  await shiftClock(database, 2 * 86_400);
  assert.equal(await log.sweep(), 1);
  await shiftClock(database, 0);
  assert.deepEqual(await rows(), []);
});

test("requests.time: the time of a record is when its request arrived, whenever it is written", async () => {
  const came = Date.now() - 5_000;
  leave("late", came);
  await log.flush();
  const [row] = await rows();
  assert(Math.abs((row?.at.getTime() ?? 0) - came) < 2_000);
});

test("requests.no-key-flood: a flood of requests without a valid key takes no room from the others, and the log counts the skipped ones", async () => {
  for (let each = 0; each < 2_000; each += 1) {
    leave("POST /v1/chat", Date.now(), null);
    if (each % 100 === 0) leave("POST /v1/transcription");
  }
  await log.flush();
  const kept = await database.db.selectFrom("requests").select(["workspace_id"]).execute();
  const owned = kept.filter(({ workspace_id: owner }) => owner !== null).length;
  assert.equal(owned, 20);
  // Of one turn, or of two when one ended in between.
  assert([50, 100].includes(kept.length - owned), `${kept.length - owned} are kept`);
  while (!logs.some((line) => line.includes("left_out"))) await turn();
  await log.close();
});

test("requests.shutdown: a shutdown writes what is left, and no record needs a flush", async () => {
  const gateway = await startGateway();
  try {
    const answers = [await postForm(gateway.origin), await postForm(gateway.origin, { fields: { nonsense: "1" } })];
    await gateway.app.close();
    const kept = await gateway.database.db.selectFrom("requests").select(["id", "status"]).orderBy("id").execute();
    assert.deepEqual(
      kept.map(({ id, status }) => [id, status]),
      answers.map((answer) => [answer.headers.get("x-request-id"), answer.status]),
    );
  } finally {
    await gateway.close();
  }
});
