// A workspace with a plan uses priced models only on shared connections, unless the operator makes a model free: what has no price is
// skipped, and where nothing else is left the answer is 402.
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import type { Sandbox } from "../../../../sandbox/server.ts";
import { generateKey } from "../../../../src/auth/key-format.ts";
import type { ConfigurationFile } from "../../../../src/config/schema/file.ts";
import { assignableModels } from "../../../../src/contract/admin/workspace-models.ts";
import { envelopeOf, get, postForm, postJson } from "../../../harness/client.ts";
import { byId, configurationWith } from "../../../harness/configuration.ts";
import { startGateway, type TestGateway } from "../../../harness/gateway.ts";
import { ended, JOBS, submit } from "../../jobs/jobs.ts";
import { call, errorIn, FINISH, samples, speak, START } from "../../realtime/setup.ts";

const ROUTES = [
  "live",
  "unpriced",
  "mixed",
  "free",
  "chat",
  "cheap-chat",
  "translated",
  "own",
  "priced",
  "priced-free",
] as const;
type RouteName = (typeof ROUTES)[number];
type WorkspaceName = "paying" | "unlimited" | "spent";
const keyOf = (workspace: WorkspaceName, route: RouteName) => `key-of-${workspace}-on-the-route-${route}`;
const TEST_KEY = generateKey("test");
const ADMIN_KEY = "key-of-the-administrator-of-paying";
const OPERATOR_KEY = "key-of-the-operator-of-everything1";

const UNPRICED = "oa/whisper-1";
const PRICED = "dg/nova-3";
const FREE = "dg/nova-2";
const UNPRICED_CHAT = "oa/gpt-4.1";

const appsOf = (workspace: WorkspaceName) =>
  byId(
    ROUTES.filter((id) => workspace === "paying" || id !== "own"),
    (id) => ({
      key: keyOf(workspace, id),
      ...(workspace === "paying" && id === "unpriced" && { keys: { test: TEST_KEY } }),
    }),
  );

const file = (sandbox: Sandbox): ConfigurationFile =>
  configurationWith(sandbox, {
    scopes: ["transcribe", "chat", "jobs", "routing:read"],
    operator: OPERATOR_KEY,
    plans: { small: { monthly_chat_tokens: 1_000_000, credits_usd: "10.00" }, empty: {} },
    prices: { "deepgram/nova-3": "0.36", "deepgram/nova-2": "free", "openai/gpt-4.1-mini": ["1", "2"] },
    routes: {
      live: ["dg/nova-3-medical", "oa/gpt-4o-transcribe"],
      unpriced: UNPRICED,
      mixed: [UNPRICED, PRICED],
      free: FREE,
      chat: UNPRICED_CHAT,
      "cheap-chat": [UNPRICED_CHAT, "oa/gpt-4.1-mini"],
      translated: { targets: [PRICED, UNPRICED_CHAT], translate_via_chat: true },
      priced: PRICED,
      "priced-free": [PRICED, FREE],
    },
    workspaces: {
      paying: {
        plan: "small",
        connections: { mine: "openai" },
        routes: { own: "mine/whisper-1" },
        apps: appsOf("paying"),
        admin: ADMIN_KEY,
      },
      unlimited: { apps: appsOf("unlimited") },
      spent: { plan: "empty", apps: appsOf("spent") },
    },
  });

let gateway: TestGateway;
before(async () => {
  gateway = await startGateway({ file });
});
after(() => gateway.close());
beforeEach(() => gateway.sandbox.clearCalls());

const MESSAGES = [{ role: "user", content: "Hello" }];
const paying = (route: RouteName) => ({ key: keyOf("paying", route) });
const chat = (route: RouteName, fields: object = {}) =>
  postJson(gateway.origin, { messages: MESSAGES, ...fields }, { ...paying(route), path: "/v1/chat" });

for (const [name, ask] of [
  ["a transcription", () => postForm(gateway.origin, paying("unpriced"))],
  ["a stream of a transcription", () => postForm(gateway.origin, { ...paying("live"), fields: { stream: "true" } })],
  ["a job", () => postForm(gateway.origin, { ...paying("unpriced"), path: JOBS })],
  [
    "the compatible transcription",
    () =>
      postForm(gateway.origin, { ...paying("unpriced"), path: "/v1/audio/transcriptions", fields: { model: "auto" } }),
  ],
  ["a translation", () => postForm(gateway.origin, { ...paying("unpriced"), path: "/v1/translation" })],
  [
    "a translation whose chat has no price",
    () => postForm(gateway.origin, { ...paying("translated"), path: "/v1/translation" }),
  ],
  ["a chat", () => chat("chat")],
  ["a stream of a chat", () => chat("chat", { stream: true })],
  [
    "the compatible chat",
    () =>
      postJson(
        gateway.origin,
        { model: "auto", messages: MESSAGES },
        { ...paying("chat"), path: "/v1/chat/completions" },
      ),
  ],
] as const) {
  test(`routing.unpriced, budgets.plan-credits: ${name} on a route without a priced model is 402 CREDITS_REQUIRED for a workspace with a plan, and nothing is called`, async () => {
    const answer = await ask();
    assert.equal(answer.status, 402, answer.text);
    assert.match(answer.text, /CREDITS_REQUIRED/u);
    assert.equal(gateway.sandbox.callCount, 0);
  });
}

test("budgets.plan-credits: a live session on a route without a priced model is closed with CREDITS_REQUIRED", {
  timeout: 20_000,
}, async () => {
  const caller = await call(gateway.origin, paying("live"));
  caller.send({ ...START });
  caller.send(samples().subarray(0, 32_000));
  caller.send(FINISH);
  assert.deepEqual(await caller.closed, [1008, "CREDITS_REQUIRED"]);
  assert.equal(errorIn(caller).code, "CREDITS_REQUIRED");
  assert.equal(gateway.sandbox.callCount, 0);
});

test("routing.unpriced: a target without a price is skipped with its reason in the trace and in a dry run, and the next one is charged", async () => {
  const answer = await postForm(gateway.origin, paying("mixed"));
  assert.ok(envelopeOf(answer).usage.billable_audio_seconds > 0);
  const attempts = await gateway.database.db
    .selectFrom("attempts")
    .select(["model", "billing_class"])
    .where("request_id", "=", answer.headers.get("x-request-id") ?? "")
    .execute();
  assert.deepEqual(attempts, [{ model: "nova-3", billing_class: "metered" }]);
  const { json } = await postForm(gateway.origin, { ...paying("mixed"), fields: { dry_run: "true" } });
  const { candidates, outcome } = json as {
    readonly candidates: readonly { readonly eligible: boolean; readonly missing: readonly string[] }[];
    readonly outcome: unknown;
  };
  assert.deepEqual(
    candidates.map(({ eligible, missing }) => [eligible, missing]),
    [
      [false, ["price"]],
      [true, []],
    ],
  );
  assert.deepEqual(outcome, { status: 200, code: null, position: 2 });
  const { json: alone } = await postForm(gateway.origin, { ...paying("unpriced"), fields: { dry_run: "true" } });
  assert.deepEqual((alone as { readonly outcome: unknown }).outcome, {
    status: 402,
    code: "CREDITS_REQUIRED",
    position: null,
  });
  assert.equal((await chat("cheap-chat")).status, 200);
});

test("routing.unaffordable-target: where the credits do not cover the first target, the next one that costs nothing is called: synchronously, streamed, as a job and live", async () => {
  const key = keyOf("spent", "priced-free");
  assert.equal((await postForm(gateway.origin, { key })).status, 200);
  const stream = await postForm(gateway.origin, { key, fields: { stream: "true" } });
  assert.match(stream.text, /^event: transcript\.completed$/mu);
  const { job_id: id } = await submit(gateway.origin, { key });
  assert.equal((await ended(gateway.origin, id, key)).status, "succeeded");
  assert.deepEqual(await speakTo(key), [1000, ""]);
  assert.deepEqual(
    gateway.sandbox.calls.map(({ model }) => model),
    ["nova-2", "nova-2", "nova-2", "nova-2"],
  );
});

test("budgets.plan-credits: where the credits cover no target the answer is 402 CREDITS_REQUIRED, and nothing is called", async () => {
  const key = keyOf("spent", "priced");
  for (const asked of [{ key }, { key, fields: { stream: "true" } }, { key, path: JOBS }]) {
    const answer = await postForm(gateway.origin, asked);
    assert.deepEqual([answer.status, answer.code], [402, "CREDITS_REQUIRED"], answer.text);
  }
  assert.deepEqual(await speakTo(key), [1008, "CREDITS_REQUIRED"]);
  assert.equal(gateway.sandbox.callCount, 0);
});

/** How a live session ends. */
async function speakTo(key: string): Promise<readonly [number, string]> {
  const caller = await call(gateway.origin, { key });
  await speak(caller, START, samples().subarray(0, 32_000));
  return caller.closed;
}

test("routing.unpriced, budgets.plan-none: a model with free: true, an own connection, a test key and a workspace without a plan are unaffected", async () => {
  for (const key of [keyOf("paying", "free"), keyOf("paying", "own"), TEST_KEY, keyOf("unlimited", "unpriced")])
    assert.equal((await postForm(gateway.origin, { key })).status, 200, key);
  const { status } = await postJson(
    gateway.origin,
    { messages: MESSAGES },
    { key: keyOf("unlimited", "chat"), path: "/v1/chat" },
  );
  assert.equal(status, 200);
});

test("providers.model-list-reason: the lists of models report what a plan does not pay for, and why; those without a plan do not change", async () => {
  const reasons = async (workspace: string, key: string) => {
    const { json } = await get(gateway.origin, `/workspace/${workspace}/models`, key);
    const { data } = assignableModels.parse(json);
    const of = (connection: string, model: string) => {
      const found = data.find((each) => each.connection === connection && each.model === model);
      return [found?.assignable, found?.reason];
    };
    return [
      of("oa", "whisper-1"),
      of("dg", "nova-3"),
      of("dg", "nova-2"),
      of("oa", "gpt-4.1"),
      of("mine", "whisper-1"),
    ];
  };
  const yes = [true, null];
  const no = [false, "unpriced"];
  assert.deepEqual(await reasons("paying", ADMIN_KEY), [no, yes, yes, no, yes]);
  assert.deepEqual(await reasons("unlimited", OPERATOR_KEY), [yes, yes, yes, yes, [undefined, undefined]]);
});
