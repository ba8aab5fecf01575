// Changes of settings and of jobs while the database is unavailable: one that was rolled back is refused as retryable, one whose commit was
// requested is not.
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { DummyDriver, Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler } from "kysely";
import { asSystemHandle, type SystemAccess, systemAccess } from "../../../src/storage/database.ts";
import type { Tables } from "../../../src/storage/schema/tables.ts";
import { bypassRls } from "../../../src/storage/system.ts";
import { tagRolledBack } from "../../../src/storage/transact.ts";
import { KEY, type TestGateway } from "../../harness/gateway.ts";
import { call, startAdminGateway } from "./admin.ts";
import { type OpenDatabase } from "../../harness/postgres/database.ts";

const connectionRefused = () => Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });
/** When the database becomes unavailable, in the transactions from now on. */
let fails: "never" | "before" | "at commit" = "never";
/** For queries outside of a transaction. */
class UnavailableDriver extends DummyDriver {
  override acquireConnection = () => Promise.reject(connectionRefused());
}
const unavailable = asSystemHandle(
  new Kysely<Tables>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => new UnavailableDriver(),
      createIntrospector: (db) => new PostgresIntrospector(db),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
  }),
);
let shared: TestGateway;
let gateway: TestGateway;

function withFailures(database: OpenDatabase): OpenDatabase {
  const inWorkspace: OpenDatabase["inWorkspace"] = (id, work) => {
    if (fails === "before") return tagRolledBack(() => Promise.reject(connectionRefused()), work);
    if (fails === "never") return database.inWorkspace(id, work);
    fails = "before";
    return database.inWorkspace(id, work).then(() => Promise.reject(connectionRefused()));
  };
  const access: SystemAccess = {
    ...bypassRls(database, "installation"),
    get db() {
      return fails === "before" ? unavailable : database.db;
    },
  };
  return { ...database, [systemAccess]: access, inWorkspace };
}

before(async () => {
  shared = await startAdminGateway();
  gateway = await startAdminGateway({ existing: { ...shared, database: withFailures(shared.database) }, works: false });
});
after(async () => {
  await gateway.close();
  await shared.close();
});
beforeEach(() => {
  fails = "never";
});

const DOMAINS = "/workspace/acme/audio-url-domains";
const domains = (...list: readonly string[]) => call(gateway, "PUT", DOMAINS, { body: { domains: list } });
const JOB = "/v1/transcription/jobs/job_01jzzzzzzzzzzzzzzzzzzzzzzz";

for (const [what, method, path, options] of [
  ["a setting", "PUT", DOMAINS, { body: { domains: [] } }],
  ["a new key", "POST", "/workspace/acme/keys", { body: { app: "notes" } }],
  ["a removal", "DELETE", "/workspace/acme/stt-webhook", {}],
  ["a job's cancellation", "DELETE", JOB, { key: KEY }],
  ["an operator's change", "POST", "/admin/v1/workspaces/acme/keys", { body: { app: "notes" } }],
] as const) {
  test(`admin.database-unavailable: ${what} while the database is unavailable is 503 OVERLOADED, retryable`, async () => {
    fails = "before";
    const answer = await call(gateway, method, path, options);
    assert.deepEqual([answer.status, answer.code, answer.headers.get("retry-after")], [503, "OVERLOADED", "2"]);
  });
}

test("admin.database-unavailable: a shared change that first has to read, outside of any transaction, is 503 OVERLOADED as well", async () => {
  const path = "/admin/v1/connections/dg";
  // The key is remembered from now on.
  assert.equal((await call(gateway, "GET", path)).status, 200);
  fails = "before";
  const answer = await call(gateway, "PUT", path, { body: { kind: "deepgram" } });
  assert.deepEqual([answer.status, answer.code], [503, "OVERLOADED"]);
});

test("admin.change-unconfirmed: a change whose commit was requested may have been made and is not called retryable", async () => {
  fails = "at commit";
  const answer = await domains("media.lost.example");
  assert.deepEqual([answer.status, answer.code, answer.headers.get("x-should-retry")], [503, "OVERLOADED", "false"]);
  fails = "never";
  assert.deepEqual((await call(gateway, "GET", DOMAINS)).json, (await domains("media.lost.example")).json);
});
