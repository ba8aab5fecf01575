// POST …/explain: whose request, what the answer contains, and what is refused. That it decides as the gateway does is tested in
// test/explain.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { AppView } from "../../../src/contract/admin/apps.ts";
import type { KeyView } from "../../../src/contract/admin/keys.ts";
import { routeExplanation } from "../../../src/contract/admin/route-explanation.ts";
import type { TestGateway } from "../../harness/gateway.ts";
import { auditRows, call, OTHER_ADMIN_KEY, refuses, startAdminGateway, viewOf } from "./admin.ts";
import { ACME, ACME_BY_OPERATOR, PLATFORM, publish, revise, targets } from "./set-up.ts";

let gateway: TestGateway;
let app: AppView;
before(async () => {
  gateway = await startAdminGateway();
  await publish(gateway, PLATFORM, { id: "calls", targets: targets(["dg", "nova-3"]) });
  await publish(gateway, ACME, { id: "own", targets: targets(["oa", "whisper-1"]) });
  app = await make<AppView>("apps", { slug: "mobile", route: "calls" });
});
after(() => gateway.close());

async function make<T>(what: "apps" | "keys", body: object): Promise<T> {
  const answer = await call(gateway, "POST", `${ACME}/${what}`, { body });
  assert.equal(answer.status, 201, answer.text);
  return answer.json as T;
}

async function explain(base: string, body: object, key?: string) {
  const options = key === undefined ? { body } : { body, key };
  return viewOf(routeExplanation, await call(gateway, "POST", `${base}/explain`, options));
}

const namesOf = ({ trace }: { readonly trace: { readonly candidates: readonly { model: string }[] | null } }) =>
  trace.candidates?.map(({ model }) => model);

test("admin.explain: published and draft decisions are returned together, and nothing is called, charged or recorded", async () => {
  await revise(gateway, PLATFORM, "calls", { targets: targets(["oa", "whisper-1"], ["dg", "nova-3"]) });
  const before = { audits: (await auditRows(gateway)).length, rows: await rowsOf() };
  gateway.sandbox.clearCalls();
  const question = {
    app: "acme/mobile",
    fields: { diarization: true },
    recording: { format: "mp3", duration_seconds: 2_400 },
  };
  const { live, compared, draft } = await explain(PLATFORM, question);
  assert.deepEqual([live.trace.route, live.trace.route_version, namesOf(live)], ["calls", 1, ["nova-3"]]);
  assert.deepEqual(compared, { route: "calls", version: 2, state: "draft" });
  assert.ok(draft);
  assert.deepEqual([draft.trace.route_version, namesOf(draft)], [2, ["whisper-1", "nova-3"]]);
  assert.deepEqual(draft.trace.candidates?.[0]?.missing, ["diarization", "size"]);
  assert.deepEqual([live.decision.outcome.position, draft.decision.outcome.position], [1, 2]);
  assert.equal(live.decision.audio_seconds, 2_400);
  assert.equal(live.decision.candidates[0]?.connection, "dg");
  await gateway.app.requestLog.flush();
  assert.equal(gateway.sandbox.calls.length, 0);
  assert.deepEqual({ audits: (await auditRows(gateway)).length, rows: await rowsOf() }, before);
});

async function rowsOf() {
  const counts = ["requests", "attempts", "jobs"] as const;
  return Promise.all(
    counts.map(async (table) => (await gateway.database.db.selectFrom(table).select("id").execute()).length),
  );
}

test("admin.explain: a version of a route can be named by its number, and a route without a draft has none to compare", async () => {
  await publish(gateway, PLATFORM, { id: "twice", targets: targets(["dg", "nova-3"]) });
  await revise(gateway, PLATFORM, "twice", { targets: targets(["dg", "nova-2"]) });
  await call(gateway, "POST", `${PLATFORM}/routes/twice/publish`, { body: {} });
  const { id } = await make<AppView>("apps", { slug: "twice", route: "twice" });
  const none = await explain(PLATFORM, { app: id });
  assert.deepEqual([none.live.trace.route_version, none.compared, none.draft], [2, null, null]);
  const first = await explain(PLATFORM, { app: id, version: 1 });
  assert.deepEqual(first.compared, { route: "twice", version: 1, state: "retired" });
  assert.deepEqual([first.draft?.trace.route_version, first.draft && namesOf(first.draft)], [1, ["nova-3"]]);
  // A route that the request does not run on changes nothing of it.
  const other = await explain(PLATFORM, { app: id, route: "calls" });
  assert.equal(other.compared?.route, "calls");
  assert.deepEqual(other.draft, other.live);
});

test("admin.explain, keys.inherit: a key's own settings override its app's, a test key is answered by the sandbox, and a draft that was never published is explained", async () => {
  await call(gateway, "POST", `${PLATFORM}/routes`, { body: { id: "new", targets: targets(["dg", "nova-2"]) } });
  const key = await make<KeyView>("keys", { app: "mobile", name: "own", scopes: ["transcribe"], route: "own" });
  const byKey = await explain(PLATFORM, { key_id: key.id });
  assert.deepEqual([byKey.live.trace.route, namesOf(byKey.live)], ["own", ["whisper-1"]]);
  const byApp = await explain(PLATFORM, { app: app.id, test_mode: true });
  assert.deepEqual([byApp.live.trace.route, byApp.live.decision.estimated_cost_usd], ["calls", null]);
  const timed = { app: app.id, test_mode: true, recording: { duration_seconds: 60 } };
  assert.equal((await explain(PLATFORM, timed)).live.decision.estimated_cost_usd, "0.00");
  const unserved = await explain(PLATFORM, { app: app.id, route: "new" });
  assert.deepEqual([unserved.compared?.state, unserved.compared?.version], ["draft", 1]);
});

test("admin.explain, metering.budget-hard-limit: a budget that would refuse the request does so in both decisions, and nothing of it is used", async () => {
  const poor = await make<AppView>("apps", { slug: "poor", route: "calls" });
  await call(gateway, "PUT", `${ACME}/apps/poor/budgets/month`, {
    body: { limit_audio_seconds: 60 },
    headers: { "if-none-match": "*" },
  });
  for (const [seconds, code] of [
    [61, "BUDGET_EXCEEDED"],
    [60, null],
    [60, null],
  ] as const) {
    const { live, draft } = await explain(PLATFORM, { app: poor.id, recording: { duration_seconds: seconds } });
    assert.deepEqual([live.decision.outcome.code, draft?.decision.outcome.code], [code, code], `${seconds} s`);
    assert.equal(live.trace.refusal, null);
  }
});

test("admin.explain-scope: an administrator explains their own apps, keys and drafts, and sees no shared draft", async () => {
  await revise(gateway, ACME, "own", { targets: targets(["dg", "nova-3"]) });
  const own = await make<AppView>("apps", { slug: "byok", route: "own" });
  for (const base of [ACME, ACME_BY_OPERATOR]) {
    const { live, compared, draft } = await explain(base, { app: "byok" });
    assert.deepEqual([namesOf(live), compared?.version, draft && namesOf(draft)], [["whisper-1"], 2, ["nova-3"]]);
    const platforms = await explain(base, { app: "mobile" });
    assert.deepEqual([platforms.live.trace.route, platforms.compared, platforms.draft], ["calls", null, null]);
    for (const body of [
      { app: "mobile", route: "calls" },
      { app: "mobile", version: 2 },
      { app: "no-such-app" },
      { app: "acme/mobile" },
    ])
      await refuses(gateway, [404, "NOT_FOUND"], () => call(gateway, "POST", `${base}/explain`, { body }));
  }
  const theirs = { key: OTHER_ADMIN_KEY };
  const key = await make<KeyView>("keys", { app: "byok", name: "theirs", scopes: ["transcribe"] });
  for (const body of [{ app: own.id }, { key_id: key.id }, { app: "byok" }])
    await refuses(gateway, [404, "NOT_FOUND"], () =>
      call(gateway, "POST", "/workspace/other/explain", { ...theirs, body }),
    );
  await refuses(gateway, [404, "NOT_FOUND"], () =>
    call(gateway, "POST", `${ACME}/explain`, { ...theirs, body: { app: "byok" } }),
  );
});

test("admin.explain-fields: an invalid field is refused by its name, in the words of the public API", async () => {
  const mobile = { app: "acme/mobile" };
  const admin = await make<KeyView>("keys", { role: "admin", name: "stranger's" });
  // More than a request may hold of both together.
  const terms = (kind: string) => Array.from({ length: 600 }, (_, n) => `${kind} ${n}`);
  for (const [body, code, param] of [
    [{}, "INVALID_REQUEST", "app"],
    [{ ...mobile, key_id: "key_x" }, "INVALID_REQUEST", "key_id"],
    [{ key_id: admin.id }, "INVALID_REQUEST", "key_id"],
    [{ key_id: "key_x", test_mode: true }, "INVALID_REQUEST", "test_mode"],
    [{ ...mobile, task: "sing" }, "INVALID_REQUEST", "task"],
    [{ ...mobile, fields: { diarisation: true } }, "INVALID_REQUEST", "fields.diarisation"],
    [{ ...mobile, fields: { to_language: "de" } }, "INVALID_REQUEST", "fields.to_language"],
    [{ ...mobile, fields: { speaker_count_hint: 0 } }, "INVALID_REQUEST", "fields.speaker_count_hint"],
    [
      { ...mobile, fields: { keyterms: terms("a"), custom_vocabulary: terms("b") } },
      "INVALID_REQUEST",
      "fields.keyterms",
    ],
    [{ ...mobile, fields: { model: "nova-3" } }, "ROUTE_CONTROL_FIELD_REJECTED", "model"],
    [{ ...mobile, fields: { stream: true, mode: "async" } }, "INVALID_REQUEST", "fields.stream"],
    [{ ...mobile, task: "chat", fields: { messages: [] } }, "INVALID_REQUEST", "fields.messages"],
    [{ ...mobile, task: "chat", recording: { duration_seconds: 1 } }, "INVALID_REQUEST", "recording"],
    [{ ...mobile, encoding: "webm_opus" }, "INVALID_REQUEST", "encoding"],
    [{ ...mobile, recording: {} }, "INVALID_REQUEST", "recording.duration_seconds"],
    [{ ...mobile, recording: { duration_seconds: -1 } }, "INVALID_REQUEST", "recording.duration_seconds"],
    [{ ...mobile, recording: { duration_seconds: 1, format: "flac" } }, "INVALID_REQUEST", "recording.format"],
    [
      { ...mobile, recording: { duration_seconds: 1, format: "mp3", channels: 3 } },
      "INVALID_REQUEST",
      "recording.channels",
    ],
    [{ ...mobile, recording: { duration_seconds: 1, bytes: 0 } }, "INVALID_REQUEST", "recording.bytes"],
    [{ ...mobile, recording: { duration_seconds: 1_000_000 } }, "AUDIO_TOO_LONG", "recording.duration_seconds"],
    [{ ...mobile, recording: { duration_seconds: 1, bytes: 1e12 } }, "AUDIO_TOO_LARGE", "recording.bytes"],
    [{ ...mobile, version: 0 }, "INVALID_REQUEST", "version"],
    [{ ...mobile, version: 99 }, "NOT_FOUND", null],
    [{ ...mobile, route: "no-such-route" }, "NOT_FOUND", null],
    [{ key_id: "key_unknown" }, "NOT_FOUND", null],
    [{ key_id: "key_\u0000" }, "INVALID_REQUEST", "key_id"],
    [{ app: "acme/\u0000" }, "INVALID_REQUEST", "app"],
    [{ ...mobile, route: "\u0000" }, "INVALID_REQUEST", "route"],
  ] as const) {
    const answer = await call(gateway, "POST", `${PLATFORM}/explain`, { body });
    assert.ok(answer.status >= 400, `${JSON.stringify(body).slice(0, 100)}: ${answer.text}`);
    const { error } = answer.json as { readonly error: { readonly code: string; readonly param: string | null } };
    assert.deepEqual([error.code, error.param ?? null], [code, param], JSON.stringify(body));
  }
});

test("admin.explain-fields: chat and live audio are explained too, a chat without messages as a short one", async () => {
  const chat = await explain(PLATFORM, { app: "acme/mobile", task: "chat" });
  assert.deepEqual([chat.live.trace.asked?.capability, chat.live.trace.refusal], ["chat", "no_model"]);
  assert.equal(chat.live.decision.outcome.code, "NO_HEALTHY_PROVIDER");
  const live = await explain(PLATFORM, { app: "acme/mobile", task: "realtime", encoding: "webm_opus" });
  assert.deepEqual([live.live.trace.asked?.stream, live.live.decision.audio_seconds], [true, null]);
  assert.deepEqual(live.draft?.trace.candidates?.[0]?.missing.includes("live_audio"), true);
});
