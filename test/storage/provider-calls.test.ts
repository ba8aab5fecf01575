// What the record of calls says of providers: whose account it was [metrics.health-accounts], what counts [metrics.health-counted], and how
// many rows are read [metrics.health-window].
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { sql } from "kysely";
import { newId } from "../../src/contract/ids.ts";
import { type CallGroup, type CallsQuestion, readRecentCalls } from "../../src/metering/store/provider-calls.ts";
import { makeTenant, openTestDatabase, setClock, type TestDatabase } from "../harness/postgres/database.ts";

const NOON_MS = Date.parse("2026-11-20T12:00:00Z");
const LIVE = "GET /live";
const JOBS = "POST /jobs";
const QUESTION: CallsQuestion = {
  minutes: 15,
  maxCalls: 1_000,
  latest: 3,
  testPrefix: "svc_test_",
  untimedEndpoints: [LIVE, JOBS],
};
let database: TestDatabase;
before(async () => {
  database = await openTestDatabase();
  await setClock(database, new Date(NOON_MS).toISOString());
  const own = (scope: string, id: string) => ({ scope, id, kind: "deepgram", settings: "{}", managed_by: "test" });
  await database.db
    .insertInto("connections")
    .values([own("platform", "dg"), own("ws_own", "dg"), own("ws_own", "mine"), own("platform", "sim")])
    .execute();
});
after(() => database.close());
beforeEach(() => sql`delete from attempts`.execute(database.db));

interface Call {
  readonly workspace?: string;
  readonly key?: string | null;
  readonly connection?: string;
  readonly provider?: string;
  readonly model?: string;
  readonly endpoint?: string;
  readonly billing?: "metered" | "provider_billed" | "simulated";
  readonly secondsAgo?: number;
  readonly tookMs?: number;
  readonly outcome?: string;
  readonly unresolved?: boolean;
}

async function insert(calls: readonly Call[]): Promise<void> {
  await database.db
    .insertInto("attempts")
    .values(
      calls.map((call, index) => {
        const endedMs = NOON_MS - (call.secondsAgo ?? 60) * 1_000;
        return {
          id: newId("attempt"),
          request_id: `req_${index}`,
          workspace_id: call.workspace ?? "ws_a",
          app_id: "app_a",
          key_id: call.key ?? null,
          endpoint: call.endpoint ?? "POST /v1/transcription",
          connection: call.connection ?? "dg",
          provider: call.provider ?? "deepgram",
          model: call.model ?? "nova-3",
          position: 1,
          billing_class: call.billing ?? "metered",
          audio_ms: 0,
          reserved_nano_usd: 0,
          estimate_nano_usd: null,
          price: null,
          state: "settled" as const,
          deadline_at: new Date(NOON_MS),
          created_at: new Date(endedMs - (call.tookMs ?? 100)),
          settled_at: new Date(endedMs),
          billable_audio_ms: 0,
          charge_nano_usd: 0,
          outcome: call.outcome ?? "succeeded",
          unresolved: call.unresolved ?? false,
        };
      }),
    )
    .execute();
}

async function read(question: Partial<CallsQuestion> = {}) {
  return readRecentCalls(database.db, { ...QUESTION, ...question });
}

const summary = (groups: readonly CallGroup[]) =>
  groups.map((each) => `${each.scope} ${each.connection} ${each.model} ${each.outcome} ${each.calls}`).toSorted();

test("metrics.health-accounts: an account is shared, or that of the workspace whose own connection replaced it", async () => {
  await insert([
    { workspace: "ws_a" },
    { workspace: "ws_b", billing: "provider_billed" },
    // Its own account since: what was metered went to the shared one.
    { workspace: "ws_own" },
    { workspace: "ws_own", billing: "provider_billed" },
    { workspace: "ws_own", billing: "provider_billed", connection: "mine" },
    // Its connection is gone by now, and there is no shared one.
    { workspace: "ws_gone", billing: "provider_billed", connection: "theirs" },
  ]);
  assert.deepEqual(summary((await read()).groups), [
    "platform dg nova-3 succeeded 3",
    "ws_gone theirs nova-3 succeeded 1",
    "ws_own dg nova-3 succeeded 1",
    "ws_own mine nova-3 succeeded 1",
  ]);
});

test("metrics.health-counted: what is no sign of a provider's health is not counted: never sent, not used, left by a crash, a test key's", async () => {
  const { workspaceId, appId } = await makeTenant(database);
  await database.db
    .insertInto("api_keys")
    .values(
      ["svc_test_", "svc_live_"].map((prefix) => ({
        id: `key_${prefix}`,
        workspace_id: workspaceId,
        app_id: appId,
        name: "k",
        role: "member" as const,
        prefix,
        last4: "0000",
        secret_hash: Buffer.from(prefix),
        managed_by: "test",
      })),
    )
    .execute();
  await insert([
    { outcome: "failed:cancelled" },
    { outcome: "failed:not_called" },
    { outcome: "failed:not_delivered" },
    { outcome: "unknown", unresolved: true },
    { billing: "simulated", key: "key_svc_test_" },
    { billing: "simulated", key: "key_svc_test_", provider: "sandbox", connection: "sim" },
    { billing: "simulated", key: "key_svc_live_", provider: "sandbox", connection: "sim" },
    { billing: "simulated", provider: "sandbox", connection: "sim", outcome: "aborted" },
    { outcome: "unknown" },
  ]);
  assert.deepEqual(summary((await read()).groups), [
    "platform dg nova-3 unknown 1",
    "platform sim nova-3 aborted 1",
    "platform sim nova-3 succeeded 1",
  ]);
});

test("metrics.health-durations: durations are per outcome, without live sessions and jobs; of failures the latest are listed, newest first", async () => {
  await insert([
    ...Array.from({ length: 21 }, (_, index) => ({ tookMs: 100 + index * 10 })),
    { tookMs: 600_000, endpoint: LIVE },
    { tookMs: 900_000, endpoint: JOBS },
    ...[50, 20, 40, 10, 30].map((secondsAgo) => ({ outcome: "failed:server_error", secondsAgo, tookMs: secondsAgo })),
    { outcome: "aborted" },
  ]);
  const { groups } = await read();
  const of = (outcome: string) => groups.find((group) => group.outcome === outcome);
  const served = of("succeeded");
  assert.deepEqual([served?.calls, served?.p50_ms, served?.p95_ms, served?.latest], [23, 200, 290, []]);
  const failed = of("failed:server_error");
  assert.deepEqual(
    failed?.latest.map(({ at_ms: at, duration_ms: ms }) => [NOON_MS - at, ms]),
    [
      [10_000, 10],
      [20_000, 20],
      [30_000, 30],
    ],
  );
  assert.match(failed?.latest[0]?.request_id ?? "", /^req_/u);
  assert.match(failed?.latest[0]?.attempt_id ?? "", /^att_/u);
  assert.deepEqual(of("aborted")?.latest, []);
});

test("metrics.health-window: the window ends where it was asked to, or at the limit on what is read, and the answer says which", async () => {
  await insert([10, 20, 30, 899, 901].map((secondsAgo) => ({ secondsAgo })));
  const whole = await read();
  assert.deepEqual([whole.isCut, whole.since.getTime()], [false, NOON_MS - 900_000]);
  assert.deepEqual(summary(whole.groups), ["platform dg nova-3 succeeded 4"]);
  const cut = await read({ maxCalls: 2 });
  assert.deepEqual([cut.isCut, cut.since.getTime()], [true, NOON_MS - 20_000]);
  assert.deepEqual(summary(cut.groups), ["platform dg nova-3 succeeded 2"]);
  // The bound is on what is read, whatever it is, or calls that do not count would be read without end.
  await insert(Array.from({ length: 5 }, () => ({ secondsAgo: 1, outcome: "failed:not_called" })));
  const none = await read({ maxCalls: 5 });
  assert.deepEqual([none.isCut, none.groups], [true, []]);
});

test("metrics.health-window: a window without calls is reported as empty", async () => {
  const { groups, isCut, since } = await read({ minutes: 1 });
  assert.deepEqual([groups, isCut, since.getTime()], [[], false, NOON_MS - 60_000]);
});
