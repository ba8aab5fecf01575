// Targets whose models their providers have ended: skipped by every kind of request, refused where nothing else is left, and never called.
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import type { Sandbox } from "../../../sandbox/server.ts";
import { generateKey } from "../../../src/auth/key-format.ts";
import type { ConfigurationFile } from "../../../src/config/schema/file.ts";
import { requestRecord } from "../../../src/contract/requests.ts";
import { routingDecision } from "../../../src/contract/transcription/transcription-envelope.ts";
import { detailsOf, get, postForm, postJson } from "../../harness/client.ts";
import { byId, configurationWith } from "../../harness/configuration.ts";
import { startGateway, type TestGateway } from "../../harness/gateway.ts";
import { ended, JOBS, submit } from "../jobs/jobs.ts";
import { call, samples, speak, START } from "../realtime/setup.ts";

const END = "2027-02-26";
/** `via`: no target that is left translates, and a chat does. */
const ROUTES = ["speech", "stream", "chat", "via", "gone", "gone-stream", "gone-chat"] as const;
type RouteName = (typeof ROUTES)[number];
const keyOf = (route: RouteName) => `key-of-the-route-named-${route}-1`;
const TEST_KEY = generateKey("test");
const HIDDEN_KEY = "key-without-the-scope-of-routing";

const file = (sandbox: Sandbox): ConfigurationFile =>
  configurationWith(sandbox, {
    scopes: ["transcribe", "chat", "jobs", "routing:read"],
    routes: {
      speech: ["oa/whisper-1", "dg/nova-3"],
      stream: ["oa/gpt-4o-transcribe", "dg/nova-3"],
      chat: ["oa/gpt-4o-mini", "oa/gpt-6-luna"],
      via: { targets: ["oa/whisper-1", "dg/nova-3", "oa/gpt-6-luna"], translate_via_chat: true },
      gone: "oa/whisper-1",
      "gone-stream": "oa/gpt-4o-transcribe",
      "gone-chat": "oa/gpt-4o-mini",
    },
    apps: {
      ...byId(ROUTES, (id) => ({ key: keyOf(id), ...(id === "gone" && { keys: { test: TEST_KEY } }) })),
      hidden: { route: "gone", keys: { hidden: { secret: HIDDEN_KEY, scopes: ["transcribe"] } } },
    },
  });

let nowIso = "2027-02-25T23:59:59Z";
let gateway: TestGateway;
before(async () => {
  gateway = await startGateway({ file, modelClock: () => new Date(nowIso) });
});
after(() => gateway.close());
beforeEach(() => {
  nowIso = `${END}T00:00:00Z`;
  gateway.sandbox.clearCalls();
});

const called = () => gateway.sandbox.calls.map(({ model }) => model);
const MESSAGES = [{ role: "user", content: "Hello" }];
const chat = (route: RouteName, fields: object = {}) =>
  postJson(gateway.origin, { messages: MESSAGES, ...fields }, { key: keyOf(route), path: "/v1/chat" });

async function speakTo(route: RouteName): Promise<readonly [number, string]> {
  const caller = await call(gateway.origin, { key: keyOf(route) });
  await speak(caller, START, samples().subarray(0, 32_000));
  return caller.closed;
}

test("routing.model-retired: the day before the end the first target serves, and on that day, in UTC, the next one", async () => {
  nowIso = "2027-02-25T23:59:59Z";
  assert.equal((await postForm(gateway.origin, { key: keyOf("speech") })).status, 200);
  nowIso = `${END}T00:00:00Z`;
  assert.equal((await postForm(gateway.origin, { key: keyOf("speech") })).status, 200);
  assert.deepEqual(called(), ["whisper-1", "nova-3"]);
});

test("routing.model-retired: streams, jobs, live audio, chats and translations skip a model that has ended", async () => {
  const stream = await postForm(gateway.origin, { key: keyOf("stream"), fields: { stream: "true" } });
  assert.match(stream.text, /^event: transcript\.completed$/mu);
  const { job_id: id } = await submit(gateway.origin, { key: keyOf("speech") });
  assert.equal((await ended(gateway.origin, id, keyOf("speech"))).status, "succeeded");
  assert.deepEqual(await speakTo("stream"), [1000, ""]);
  assert.deepEqual(called(), ["nova-3", "nova-3", "nova-3"]);
  gateway.sandbox.clearCalls();
  assert.equal((await chat("chat")).status, 200);
  assert.match((await chat("chat", { stream: true })).text, /event/u);
  assert.deepEqual(called(), ["gpt-6-luna", "gpt-6-luna"]);
  gateway.sandbox.clearCalls();
  const translated = await postForm(gateway.origin, { key: keyOf("via"), path: "/v1/translation" });
  assert.match(translated.text, /TRANSLATED_BY_CHAT/u);
  assert.deepEqual(called(), ["nova-3", "gpt-6-luna"]);
});

for (const [name, ask] of [
  ["a transcription", () => postForm(gateway.origin, { key: keyOf("gone") })],
  [
    "a stream of a transcription",
    () => postForm(gateway.origin, { key: keyOf("gone-stream"), fields: { stream: "true" } }),
  ],
  ["a job", () => postForm(gateway.origin, { key: keyOf("gone"), path: JOBS })],
  ["a translation", () => postForm(gateway.origin, { key: keyOf("gone"), path: "/v1/translation" })],
  ["a chat", () => chat("gone-chat")],
  ["a stream of a chat", () => chat("gone-chat", { stream: true })],
  ["a request of a test key", () => postForm(gateway.origin, { key: TEST_KEY })],
] as const) {
  test(`routing.retired-refusal: ${name} with nothing but a model that has ended is 503 model_retired, not retryable, and nothing is called or billed`, async () => {
    const answer = await ask();
    assert.deepEqual([answer.status, answer.code], [503, "NO_HEALTHY_PROVIDER"], answer.text);
    assert.equal(detailsOf(answer)["reason"], "model_retired");
    assert.match(answer.text, /"retryable":false/u);
    assert.equal(gateway.sandbox.callCount, 0);
    const id = answer.headers.get("x-request-id") ?? "";
    const rows = gateway.database.db.selectFrom("attempts").selectAll().where("request_id", "=", id);
    assert.deepEqual(await rows.execute(), []);
  });
}

test("routing.retired-reason: record and dry run have the day and the source, and without routing:read the day alone", async () => {
  const served = await postForm(gateway.origin, { key: keyOf("speech") });
  await gateway.app.requestLog.flush();
  const { json } = await get(gateway.origin, `/v1/requests/${served.headers.get("x-request-id")}`, keyOf("speech"));
  const [first, second] = requestRecord.parse(json).candidates;
  assert.deepEqual([first?.eligible, first?.missing, first?.outcome], [false, ["model_retired"], "left"]);
  assert.equal(first?.retired?.ended_on, END);
  assert.match(first?.retired?.source ?? "", /openai/u);
  assert.deepEqual([second?.retired, second?.outcome], [undefined, "served"]);
  assert.match(requestRecord.parse(json).summary, /its provider ended the model on 2027-02-26/u);

  const dry = (key: string) => postForm(gateway.origin, { key, fields: { dry_run: "true" } });
  const open = routingDecision.parse((await dry(keyOf("gone"))).json);
  assert.deepEqual(open.outcome, { status: 503, code: "NO_HEALTHY_PROVIDER", position: null });
  assert.match(open.candidates[0]?.retired?.source ?? "", /openai/u);
  const hidden = await dry(HIDDEN_KEY);
  assert.deepEqual(routingDecision.parse(hidden.json).candidates[0]?.retired, { ended_on: END });
  assert.doesNotMatch(hidden.text, /openai|whisper/u);
  assert.doesNotMatch((await postForm(gateway.origin, { key: HIDDEN_KEY })).text, /openai|whisper/u);
});

test("routing.model-retired: a job whose model ends while it waits is tried on the next target", async () => {
  nowIso = "2027-02-25T23:59:59Z";
  const { job_id: id } = await submit(gateway.origin, { key: keyOf("speech") });
  nowIso = `${END}T00:00:00Z`;
  assert.equal((await ended(gateway.origin, id, keyOf("speech"))).status, "succeeded");
});
