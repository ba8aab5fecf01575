// Data policies over the public API, with each kind of provider: without proof nothing is called, reserved or charged; with it, the provider is sent what the
// proof depends on.
import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { routingDecision } from "../../src/contract/transcription/transcription-envelope.ts";
import { attemptRows } from "../harness/attempts.ts";
import { type Answer, detailsOf, envelopeOf, get, postForm, postJson, send } from "../harness/client.ts";
import { KEY } from "../harness/gateway.ts";
import { startQuietGateway } from "../harness/quiet-gateway.ts";
import { until } from "../harness/until.ts";
import {
  ALL,
  ALL_LACKS,
  BOTH,
  dataPolicyFile,
  fileFields,
  OPERATOR,
  STRICT_KEY,
  TEST_KEY,
} from "./data-policy-setup.ts";
import { call, errorIn, samples, speak, START } from "./realtime/setup.ts";

const gateway = await startQuietGateway(dataPolicyFile);
const { origin, sandbox } = gateway;
beforeEach(() => sandbox.clearCalls());

function chat(purpose: string, policy?: object, more: object = {}, key = KEY): Promise<Answer> {
  const body = { messages: [{ role: "user", content: "Hello" }], purpose, ...more };
  return postJson(origin, policy === undefined ? body : { ...body, data_policy: policy }, { path: "/v1/chat", key });
}

const ask = (use: "files" | "chat", purpose: string, policy?: object, key = KEY): Promise<Answer> =>
  use === "files" ? postForm(origin, { key, fields: fileFields(purpose, policy) }) : chat(purpose, policy, {}, key);

/** Without the deletions of earlier runs, which are made in the background. */
const submissions = () => sandbox.calls.filter(({ method }) => method !== "DELETE");

async function assertRefused(answer: Answer, missing: readonly string[]): Promise<void> {
  assert.deepEqual([answer.status, answer.code], [422, "REQUIRED_FEATURE_UNSUPPORTED"], answer.text);
  assert.deepEqual(detailsOf(answer)["missing"], missing, answer.text);
  assert.deepEqual(submissions(), []);
  assert.deepEqual(await attemptRows(gateway, answer), [], "nothing was reserved or charged");
}

/** By the ends of the credentials, which tell the two connections of a kind apart. */
function accountsCalled(): readonly string[] {
  assert.ok(submissions().length > 0);
  const ends = submissions().map(({ headers }) => {
    const credential = ["authorization", "xi-api-key", "x-api-key", "x-goog-api-key"].flatMap(
      (name) => headers[name] ?? [],
    );
    return credential.some((text) => text.endsWith("-two")) ? "stated" : credential.join();
  });
  return [...new Set(ends)];
}

for (const [kind, , , use] of BOTH) {
  test(`data-policy.fail-closed, data-policy.refusal: ${kind} for ${use} at an address without facts is never called, and nothing is billed`, async () => {
    await assertRefused(await ask(use, `${use}-${kind}-bare`, ALL), ALL_LACKS);
    for (const [aspect, value] of Object.entries(ALL))
      await assertRefused(await ask(use, `${use}-${kind}-bare`, { [aspect]: value }), [`data_policy.${aspect}`]);
    const served = await ask(use, `${use}-${kind}-bare`);
    assert.equal(served.status, 200, served.text);
  });

  test(`data-policy.statement: of ${kind} for ${use} the target whose owner states it serves, and the one before it, which fails nothing but the proof, is not called`, async () => {
    const answer = await ask(use, `${use}-${kind}-both`, ALL);
    assert.equal(answer.status, 200, answer.text);
    assert.deepEqual(accountsCalled(), ["stated"]);
  });

  test(`data-policy.fail-closed: after a failure of ${kind} for ${use} no target without proof is tried`, async () => {
    sandbox.addFault({ fault: { kind: "status", status: 503 } });
    const answer = await ask(use, `${use}-${kind}-both`, ALL);
    assert.ok([502, 503].includes(answer.status), answer.text);
    assert.deepEqual(accountsCalled(), ["stated"]);
  });
}

/** What a test key meets: the provider's own addresses, at which nothing of this test is called. */
for (const [purpose, policy, missing] of [
  ["own-deepgram", { training: "never", retention: "none" }, []],
  ["own-deepgram", { regions: ["eu"] }, ["data_policy.regions"]],
  ["own-deepgram-eu", { training: "never", retention: "none", regions: ["eu"] }, []],
  ["own-deepgram-eu", { regions: ["us"] }, ["data_policy.regions"]],
  ["own-assemblyai", { retention: "deletable" }, []],
  ["own-assemblyai", { retention: 30 }, []],
  ["own-assemblyai", { retention: "none" }, ["data_policy.retention"]],
  ["own-assemblyai", { training: "never" }, ["data_policy.training"]],
  ["own-assemblyai-eu", { training: "never", retention: "deletable", regions: ["eu"] }, []],
  ["own-elevenlabs", { retention: "deletable" }, []],
  ["own-elevenlabs", { training: "never" }, ["data_policy.training"]],
  ["own-elevenlabs-eu", { retention: "deletable", regions: ["eu"] }, []],
  ["own-openai", { training: "never" }, []],
  ["own-openai", { retention: 30 }, ["data_policy.retention"]],
  ["own-google-speech", { regions: ["us"] }, []],
  ["own-google-speech", { training: "never" }, ["data_policy.training"]],
  ["own-google-speech-eu", { regions: ["eu"] }, []],
  ["own-gemini", { training: "never" }, ["data_policy.training"]],
] as const) {
  test(`data-policy.facts: ${purpose} asked for ${JSON.stringify(policy)} ${missing.length === 0 ? "serves" : `lacks ${missing.join(", ")}`}`, async () => {
    const answer = await ask("files", purpose, policy, TEST_KEY);
    if (missing.length === 0) envelopeOf(answer);
    else await assertRefused(answer, missing);
  });
}

test("data-policy.opt-out-forced: store: false is sent to OpenAI's chat where retention is required, in a request and in a stream", async () => {
  for (const more of [{}, { stream: true }]) {
    const answer = await chat("chat-openai-both", { retention: "none" }, more);
    assert.equal(answer.status, 200, answer.text);
  }
  assert.deepEqual(
    sandbox.calls.map(({ fields }) => fields.find(([name]) => name === "store")?.[1]),
    ["false", "false"],
  );
});

test("data-policy.tighten-only: a request never loosens what its app, route or purpose requires", async () => {
  const loose = [undefined, {}, { retention: "deletable" }, { retention: 3_650 }, { regions: ["eu", "us", "in"] }];
  for (const policy of loose) {
    const answer = await ask("files", "files-assemblyai-bare", policy, STRICT_KEY);
    const missing = [
      "data_policy.training",
      "data_policy.retention",
      ...(policy !== undefined && "regions" in policy ? ["data_policy.regions"] : []),
    ];
    await assertRefused(answer, missing);
    await assertRefused(await chat("chat-anthropic-bare", policy, {}, STRICT_KEY), missing);
    for (const purpose of ["by-route", "by-purpose"]) {
      const lacks = detailsOf(await ask("files", purpose, policy))["missing"];
      assert.ok(Array.isArray(lacks) && lacks.includes("data_policy.training"), JSON.stringify(policy));
    }
  }
  envelopeOf(await ask("files", "files-assemblyai-both", undefined, STRICT_KEY));
  sandbox.clearCalls();
  await assertRefused(await ask("files", "files-assemblyai-both", { regions: ["us"] }, STRICT_KEY), [
    "data_policy.regions",
  ]);
});

/** The OpenAI-compatible endpoints, with one purpose for each. */
const COMPATIBLE = ["chat", "chat stream", "transcriptions", "translations"] as const;
type Compatible = (typeof COMPATIBLE)[number];
const MESSAGES = [{ role: "user", content: "Hello" }];

function askCompatible(endpoint: Compatible, purpose: "bare" | "both", policy?: object, key = KEY): Promise<Answer> {
  if (endpoint === "transcriptions" || endpoint === "translations") {
    const { purpose: label, ...fields } = fileFields(`files-openai-${purpose}`, policy);
    return postForm(origin, { path: `/v1/audio/${endpoint}`, key, fields: { model: `purpose/${label}`, ...fields } });
  }
  const body = {
    model: `purpose/chat-openai-${purpose}`,
    messages: MESSAGES,
    stream: endpoint === "chat stream",
    ...(policy === undefined ? {} : { data_policy: policy }),
  };
  return postJson(origin, body, { path: "/v1/chat/completions", key });
}

for (const endpoint of COMPATIBLE) {
  test(`compatible.data-policy, data-policy.fail-closed: on the OpenAI-compatible endpoints (${endpoint}) a request requires each aspect, and only a target with proof is called`, async () => {
    const unrestricted = await askCompatible(endpoint, "bare");
    assert.equal(unrestricted.status, 200, unrestricted.text);
    sandbox.clearCalls();
    await assertRefused(await askCompatible(endpoint, "bare", ALL), ALL_LACKS);
    for (const [aspect, value] of Object.entries(ALL))
      await assertRefused(await askCompatible(endpoint, "bare", { [aspect]: value }), [`data_policy.${aspect}`]);
    assert.equal((await askCompatible(endpoint, "both", ALL)).status, 200);
    assert.deepEqual(accountsCalled(), ["stated"]);
    sandbox.clearCalls();
    const wrong = await askCompatible(endpoint, "both", { training: "always" });
    assert.deepEqual([wrong.status, wrong.code], [400, "INVALID_REQUEST"], wrong.text);
    assert.deepEqual(submissions(), []);
  });

  test(`compatible.data-policy, data-policy.tighten-only: on the OpenAI-compatible endpoints (${endpoint}) a request never loosens what its app requires`, async () => {
    for (const policy of [undefined, {}, { retention: "deletable" }, { retention: 3_650 }])
      await assertRefused(await askCompatible(endpoint, "bare", policy, STRICT_KEY), [
        "data_policy.training",
        "data_policy.retention",
      ]);
    assert.equal((await askCompatible(endpoint, "both", { regions: ["eu"] }, STRICT_KEY)).status, 200);
    sandbox.clearCalls();
    await assertRefused(await askCompatible(endpoint, "both", { regions: ["us"] }, STRICT_KEY), [
      "data_policy.regions",
    ]);
  });
}

test("compatible.data-policy: a form takes members in brackets, as OpenAI's clients write them", async () => {
  const fields = {
    model: "purpose/files-openai-both",
    "data_policy[training]": "never",
    "data_policy[regions][]": "us",
  };
  await assertRefused(await postForm(origin, { path: "/v1/audio/transcriptions", fields }), ["data_policy.regions"]);
  const inEu = { ...fields, "data_policy[regions][]": "eu" };
  assert.equal((await postForm(origin, { path: "/v1/audio/transcriptions", fields: inEu })).status, 200);
  assert.deepEqual(accountsCalled(), ["stated"]);
});

test("idempotency.normalised-fields: regions in another order are the same payload, and other regions are another one", async () => {
  const keyed = (path: string, idempotencyKey: string, regions: readonly string[]) =>
    path.startsWith("/v1/chat")
      ? postJson(
          origin,
          {
            messages: MESSAGES,
            data_policy: { regions },
            ...(path === "/v1/chat" ? { purpose: "chat-openai-both" } : { model: "purpose/chat-openai-both" }),
          },
          { path, headers: { "idempotency-key": idempotencyKey } },
        )
      : postForm(origin, {
          path,
          headers: { "idempotency-key": idempotencyKey },
          fields: fileFields("files-openai-both", { regions }),
        });
  for (const path of ["/v1/chat", "/v1/chat/completions", "/v1/transcription"]) {
    const key = `regions-of-${path}`;
    const first = await keyed(path, key, ["eu", "us"]);
    assert.equal(first.status, 200, first.text);
    const again = await keyed(path, key, ["us", "eu", "us"]);
    assert.equal(again.headers.get("x-svc-idempotent-replay"), "true", again.text);
    assert.equal(again.text, first.text);
    assert.equal((await keyed(path, key, ["eu"])).code, "IDEMPOTENCY_KEY_REUSED");
  }
});

test("data-policy.regions-intersect: regions without one in common are 422, even for what would be in each", async () => {
  await assertRefused(await ask("files", "eu-only", { regions: ["us"] }), ["data_policy.regions"]);
  envelopeOf(await ask("files", "eu-only", { regions: ["us", "eu"] }));
});

test("data-policy.requirement: a form takes JSON or members in brackets, and a wrong value is a 400", async () => {
  const purpose = "files-deepgram-bare";
  await assertRefused(await postForm(origin, { fields: { purpose, "data_policy[training]": "never" } }), [
    "data_policy.training",
  ]);
  for (const retention of ["30", "deletable", "none"])
    await assertRefused(await postForm(origin, { fields: { purpose, "data_policy[retention]": retention } }), [
      "data_policy.retention",
    ]);
  for (const retention of ["0", "some", "1.5", "1e2"]) {
    const answer = await postForm(origin, { fields: { purpose, "data_policy[retention]": retention } });
    assert.deepEqual([answer.status, answer.code], [400, "INVALID_REQUEST"], `${retention}: ${answer.text}`);
  }
  for (const wrong of [
    { training: "always" },
    { retention: 0 },
    { retention: "some" },
    { regions: [] },
    { model: "x" },
  ]) {
    const answer = await postForm(origin, { fields: fileFields(purpose, wrong) });
    assert.equal(answer.status, 400, answer.text);
    assert.equal((await chat("chat-openai-bare", wrong)).status, 400);
  }
  assert.equal(submissions().length, 0);
});

test("data-policy.fail-closed: jobs and live audio without proof are refused before anything is stored or called", async () => {
  const job = await postForm(origin, {
    path: "/v1/transcription/jobs",
    fields: fileFields("files-deepgram-bare", ALL),
  });
  await assertRefused(job, ALL_LACKS);
  const caller = await call(origin);
  await speak(caller, { ...START, purpose: "files-deepgram-bare", data_policy: ALL }, samples().subarray(0, 3_200));
  await caller.closed;
  assert.equal(errorIn(caller).code, "REQUIRED_FEATURE_UNSUPPORTED");
  assert.equal(submissions().length, 0);
});

test("data-policy.refusal: dry run and the request's record list what each target lacks", async () => {
  const fields = { ...fileFields("files-deepgram-both", ALL), dry_run: "true" };
  const answer = await postForm(origin, { fields });
  const { candidates, outcome } = routingDecision.parse(answer.json);
  assert.deepEqual(
    candidates.map(({ missing }) => missing),
    [ALL_LACKS, []],
  );
  assert.equal(outcome.position, 2);
  assert.equal(submissions().length, 0);
  const id = answer.headers.get("x-request-id") ?? "";
  await until(async () => (await get(origin, `/v1/requests/${id}`)).status === 200);
  const record = await get(origin, `/v1/requests/${id}`);
  for (const lack of ALL_LACKS) assert.ok(record.text.includes(lack), record.text);
});

test("data-policy.listed, data-policy.regional-hosts: the models list their facts, and a connection shows its region and statement", async () => {
  const listed = await send(`${gateway.adminOrigin}/admin/v1/models`, {
    headers: { authorization: `Bearer ${OPERATOR}` },
  });
  assert.equal(listed.status, 200, listed.text);
  const { data } = listed.json as { data: { connection: string; model: string; data_policy: object[] }[] };
  const factsOf = (connection: string) =>
    data.find((each) => each.connection === connection && each.model === "nova-3")?.data_policy;
  assert.deepEqual(factsOf("deepgram-bare"), []);
  assert.deepEqual(
    factsOf("own-deepgram-eu")?.map((fact) => {
      const { aspect, value, basis, sent } = fact as Record<string, unknown>;
      return { aspect, value, basis, sent };
    }),
    [
      { aspect: "training", value: "opt_out_sent", basis: "vendor", sent: ["mip_opt_out=true"] },
      { aspect: "retention", value: "none", basis: "vendor", sent: ["mip_opt_out=true"] },
      { aspect: "regions", value: ["eu"], basis: "vendor", sent: ["mip_opt_out=true"] },
    ],
  );
  const shown = await send(`${gateway.adminOrigin}/admin/v1/connections/own-deepgram-eu`, {
    headers: { authorization: `Bearer ${OPERATOR}` },
  });
  const connection = shown.json as Record<string, unknown>;
  assert.deepEqual([connection["region"], connection["base_url"], connection["data_policy"]], ["eu", null, null]);
  const account = gateway.app.gateway.directory().account("platform/own-deepgram-eu");
  assert.equal(account?.baseUrl, "https://api.eu.deepgram.com");
});

/** As the operator, on the admin listener. */
async function administer(method: string, path: string, body?: object, etag?: string): Promise<Answer> {
  return send(`${gateway.adminOrigin}/admin/v1${path}`, {
    method,
    headers: {
      authorization: `Bearer ${OPERATOR}`,
      "content-type": "application/json",
      ...(etag === undefined ? {} : { "if-match": etag }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
}

test("data-policy.statement, data-policy.regional-hosts: a connection's region and statement are set through the API, each change is audited, and a withdrawn statement no longer counts", async () => {
  const refused: readonly (readonly [object, string])[] = [
    [{ kind: "deepgram", region: "us" }, "region"],
    [{ kind: "deepgram", region: "constructor" }, "region"],
    [{ kind: "deepgram", region: "eu", base_url: "https://proxy.example" }, "region"],
    [{ kind: "anthropic", region: "eu" }, "region"],
    [{ kind: "deepgram", data_policy: { retention: "deletable" } }, "data_policy.retention"],
    [{ kind: "deepgram", data_policy: { training: "possible" } }, "data_policy.training"],
  ];
  for (const [wrong, param] of refused) {
    const answer = await administer("POST", "/connections", { id: "new", api_key: "k".repeat(20), ...wrong });
    assert.equal(answer.status, 400, answer.text);
    assert.ok(answer.text.includes(param), answer.text);
  }
  const statement = { training: "never", regions: ["eu"] };
  const wanted = { id: "new", kind: "anthropic", api_key: "k".repeat(20) };
  const made = await administer("POST", "/connections", { ...wanted, data_policy: statement });
  assert.equal(made.status, 201, made.text);
  const isStated = () => gateway.app.gateway.directory().account("platform/new")?.statement ?? null;
  assert.deepEqual(isStated(), statement);
  const changed = await administer("PUT", "/connections/new", wanted, made.headers.get("etag") ?? "");
  assert.equal(changed.status, 200, changed.text);
  assert.equal(isStated(), null);
  const audited = await administer("GET", "/audit?limit=2");
  const { data } = audited.json as { data: { before: Record<string, unknown>; after: Record<string, unknown> }[] };
  assert.deepEqual(
    data.map(({ before, after }) => [before?.["data_policy"] ?? null, after["data_policy"]]),
    [
      [statement, null],
      [null, statement],
    ],
  );
});

test("data-policy.requirement: apps and routes take the requirement through the API and return it", async () => {
  const policy = { training: "never", retention: 7, regions: ["eu"] };
  const purposes = [{ purpose: "p", route: "eu-only", data_policy: { retention: "none" } }];
  const app = await administer("POST", "/workspaces/acme/apps", {
    slug: "new",
    route: "eu-only",
    data_policy: policy,
    purposes,
  });
  assert.equal(app.status, 201, app.text);
  const shown = app.json as { data_policy: object; purposes: { data_policy: object }[] };
  assert.deepEqual([shown.data_policy, shown.purposes[0]?.data_policy], [policy, { retention: "none" }]);
  const targets = [{ connection: "deepgram-stated", model: "nova-3" }];
  const route = await administer("POST", "/routes", { id: "new", targets, data_policy: policy });
  assert.equal(route.status, 201, route.text);
  const { draft } = route.json as { draft: { definition: { data_policy: object } } };
  assert.deepEqual(draft.definition.data_policy, policy);
  const inDefaults = { purpose: "q", route: "eu-only", defaults: { data_policy: policy } };
  const wrong = await administer("POST", "/routes", { id: "other", targets, purposes: [inDefaults] });
  assert.equal(wrong.status, 400, wrong.text);
});
