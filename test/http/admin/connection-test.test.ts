// POST …/connections/{connection_id}/test: a refused credential is distinguished from all other faults, and a test leaves no trace.
import assert from "node:assert/strict";
import type { ServerResponse } from "node:http";
import { after, before, beforeEach, test } from "node:test";
import { type ConnectionTest, connectionTest } from "../../../src/contract/admin/connection-test.ts";
import { assignableModels } from "../../../src/contract/admin/workspace-models.ts";
import { providerHealth } from "../../../src/contract/admin/provider-health.ts";
import type { ProviderKind } from "../../../src/contract/provider-kinds.ts";
import { KEY, type TestGateway } from "../../harness/gateway.ts";
import { httpServer } from "../../outbound/loopback.ts";
import { type PretendInternet, pretendInternet } from "../../outbound/pretend-internet.ts";
import { auditRows, call, OPERATOR_KEY, OTHER_ADMIN_KEY, refuses, startAdminGateway, viewOf } from "./admin.ts";
import { ACME, ACME_BY_OPERATOR, connect, PLATFORM } from "./set-up.ts";

const PUBLIC = "93.184.216.34";
const SECRET = "a-secret-to-be-tried-0001";
let internet: PretendInternet;
let gateway: TestGateway;
before(async () => {
  internet = pretendInternet();
  internet.name("own.example", [PUBLIC]);
  gateway = await startAdminGateway({ network: internet });
  internet.server(PUBLIC, new URL(gateway.sandbox.origin));
});
after(() => gateway.close());
beforeEach(() => {
  gateway.sandbox.clearFaults();
  gateway.sandbox.clearCalls();
});

let made = 0;

interface Making extends Readonly<Record<string, unknown>> {
  readonly baseUrl?: string | null;
  readonly apiKey?: string | null;
}

/** Of a connection that is made for it. */
async function tried(
  kind: ProviderKind,
  { baseUrl, apiKey = SECRET, ...rest }: Making,
  base = PLATFORM,
): Promise<ConnectionTest> {
  made += 1;
  const id = `tried-${made}`;
  await connect(gateway, base, { id, kind, base_url: baseUrl ?? null, api_key: apiKey, ...rest });
  return testOf(`${base}/connections/${id}`);
}

async function testOf(path: string, key?: string): Promise<ConnectionTest> {
  const answer = await call(gateway, "POST", `${path}/test`, key === undefined ? {} : { key });
  assert.equal(answer.status, 200, answer.text);
  assert.ok(!answer.text.includes(SECRET), "a credential in an answer");
  return viewOf(connectionTest, answer);
}

const deepgram = (rest: Making = {}) => tried("deepgram", { baseUrl: gateway.sandbox.deepgramUrl, ...rest });
const inShort = ({ ok, outcome, status, code }: ConnectionTest) => [ok, outcome, status, code];

test("admin.test-outcome, providers.test-question: each provider's account is tried in its own protocol, and shows what can be done on it and what it lists", async () => {
  const { sandbox } = gateway;
  for (const [kind, baseUrl, found] of [
    ["deepgram", sandbox.deepgramUrl, null],
    ["assemblyai", sandbox.assemblyaiUrl, null],
    ["elevenlabs", sandbox.elevenlabsUrl, null],
    ["openai", sandbox.openaiUrl, true],
    ["anthropic", sandbox.anthropicUrl, true],
    ["gemini", sandbox.geminiUrl, true],
    ["google-speech", sandbox.googleSpeechUrl, true],
    ["sandbox", null, null],
  ] as const) {
    const answer = await tried(kind, { baseUrl });
    assert.deepEqual(inShort(answer), [true, "accepted", 200, null], kind);
    assert.deepEqual([...new Set(answer.models.map((model) => model.found))], [found], kind);
    assert.equal(answer.undeclared_models === null, found === null);
    const refused = await tried(kind, { baseUrl: baseUrl ?? sandbox.origin, apiKey: "invalid" });
    assert.deepEqual([refused.ok, refused.outcome], [false, "refused"], kind);
    assert.deepEqual([...new Set(refused.models.map((model) => model.found))], [null], "nothing was listed");
  }
});

test("admin.test-models: what a model can do is what the list of models says; other listed models are named", async () => {
  const models = { "house-model": { capabilities: ["audio_input"] } };
  const answer = await tried("openai", { baseUrl: gateway.sandbox.openaiUrl, models });
  const listed = assignableModels.parse((await call(gateway, "GET", "/workspace/acme/models")).json).data;
  for (const { found: _found, ...model } of answer.models) {
    const same = listed.find(({ connection, model: name }) => connection === answer.connection && name === model.model);
    assert.partialDeepStrictEqual(same, model);
  }
  assert.ok(answer.models.length > 10);
  assert.equal(answer.models.find((model) => model.model === "house-model")?.found, false);
  assert.deepEqual(answer.undeclared_models, [], "the sandbox has no other");
  assert.match(answer.message, /lists \d+ of the \d+ models/u);

  const groq = {
    baseUrl: gateway.sandbox.compatibleUrl("groq"),
    models: { "whisper-large-v3": models["house-model"] },
  };
  const compatible = await tried("openai-compatible", groq);
  assert.deepEqual(inShort(compatible), [true, "accepted", 200, null]);
  assert.deepEqual(
    compatible.models.map(({ model, found }) => [model, found]),
    [["whisper-large-v3", true]],
  );
  assert.deepEqual(compatible.undeclared_models, ["llama-3.3-70b-versatile", "whisper-large-v3-turbo"]);
});

test("admin.test-outcome: only a refused credential is blamed", async () => {
  const trouble = async (fault: Parameters<typeof gateway.sandbox.addFault>[0]["fault"]) => {
    gateway.sandbox.addFault({ wire: "deepgram", step: "probe", times: 1, fault });
    return inShort(await deepgram(fault.kind === "stall" ? { timeout_seconds: 1 } : {}));
  };
  assert.deepEqual(await trouble({ kind: "status", status: 403 }), [
    false,
    "restricted",
    403,
    "INSUFFICIENT_PERMISSIONS",
  ]);
  assert.deepEqual(await trouble({ kind: "status", status: 402 }), [
    false,
    "out_of_credit",
    402,
    "ASR_PAYMENT_REQUIRED",
  ]);
  assert.deepEqual(await trouble({ kind: "status", status: 429, retryAfterSeconds: 9 }), [
    false,
    "busy",
    429,
    "TOO_MANY_REQUESTS",
  ]);
  assert.deepEqual(await trouble({ kind: "status", status: 503 }), [false, "failing", 503, "SERVICE_UNAVAILABLE"]);
  assert.deepEqual(await trouble({ kind: "garbage" }), [false, "unexpected", 200, "not_json"]);
  assert.deepEqual(await trouble({ kind: "reset_after_body" }), [false, "unreachable", null, "ECONNRESET"]);
  // The connection's own time is shorter than the test's.
  assert.deepEqual(await trouble({ kind: "stall" }), [false, "unreachable", null, null]);
  assert.deepEqual(inShort(await deepgram({ baseUrl: "http://127.0.0.1:9" })), [
    false,
    "unreachable",
    null,
    "ECONNREFUSED",
  ]);
  assert.deepEqual(inShort(await deepgram({ baseUrl: `${gateway.sandbox.origin}/nowhere` })), [
    false,
    "unexpected",
    404,
    null,
  ]);
  // As an older version may have left it.
  const { connection } = await deepgram();
  await gateway.database.db.updateTable("connections").set({ credential: null }).where("id", "=", connection).execute();
  const calls = gateway.sandbox.callCount;
  assert.equal((await testOf(`${PLATFORM}/connections/${connection}`)).outcome, "no_credential");
  assert.equal(gateway.sandbox.callCount, calls);
  const open = await tried("openai-compatible", { baseUrl: gateway.sandbox.compatibleUrl("openai") });
  assert.deepEqual(inShort(open), [false, "unproven", 200, null]);
  const bare = await tried("openai-compatible", { baseUrl: gateway.sandbox.compatibleUrl("openai"), apiKey: null });
  assert.deepEqual(inShort(bare), [true, "accepted", 200, null]);
});

test("admin.test-bounded: an endless list is not read to its end, and an answer that repeats the credential does not get through", async (t) => {
  const endless = await httpServer(t, (_request, response) => {
    response.on("error", () => {});
    response.writeHead(200, { "content-type": "application/json" }).write('{"data": [');
    const fill = (): void => {
      while (!response.destroyed && response.write(`"${"x".repeat(65_536)}",`));
      if (!response.destroyed) response.once("drain", fill);
    };
    fill();
  });
  assert.deepEqual(inShort(await tried("openai", { baseUrl: endless.href })), [
    false,
    "unexpected",
    null,
    "reply_too_large",
  ]);
  const repeating = await httpServer(t, (request, response) => {
    const said = request.headers.authorization ?? "";
    const error = { message: said, type: SECRET, param: said, code: SECRET };
    response.writeHead(401, { "x-said": said }).end(JSON.stringify({ error, data: [{ id: SECRET }] }));
  });
  assert.deepEqual(inShort(await tried("openai", { baseUrl: repeating.href })), [false, "refused", 401, null]);
});

test("admin.test-no-redirect: a redirect is not followed, and the credential is sent nowhere else", async (t) => {
  let followed = 0;
  const elsewhere = await httpServer(t, (_request, response) => {
    followed += 1;
    response.end("{}");
  });
  const leading = await httpServer(t, (_request, response) => {
    response.writeHead(301, { location: elsewhere.href }).end();
  });
  assert.deepEqual(inShort(await deepgram({ baseUrl: leading.href })), [false, "unexpected", 301, null]);
  assert.equal(followed, 0);
});

test("admin.test-scope: administrators test their workspace's own account, through the guard; shared and foreign ones are 404", async () => {
  const own = await tried("deepgram", { baseUrl: "https://own.example/deepgram" }, ACME);
  assert.deepEqual(inShort(own), [true, "accepted", 200, null]);
  assert.deepEqual(internet.dialled.at(-1), { address: PUBLIC, port: 443, tlsName: "own.example" });
  const path = `connections/${own.connection}`;
  assert.equal((await testOf(`${ACME_BY_OPERATOR}/${path}`)).outcome, "accepted");

  // By now the name leads inside.
  internet.name("own.example", ["10.0.0.7"]);
  const refused = await testOf(`${ACME}/${path}`);
  assert.deepEqual(inShort(refused), [false, "address_refused", null, null]);
  assert.doesNotMatch(JSON.stringify(refused), /10\.0\.0\.7/u);
  assert.equal(internet.canaryConnections(), 0);

  const calls = gateway.sandbox.callCount;
  for (const [at, key, code] of [
    [`${ACME}/connections/dg`, undefined, "NOT_FOUND"],
    [`${ACME}/connections/never-made`, undefined, "NOT_FOUND"],
    [`/workspace/other/${path}`, OTHER_ADMIN_KEY, "NOT_FOUND"],
    [`${ACME}/${path}`, OTHER_ADMIN_KEY, "NOT_FOUND"],
    [`${ACME}/${path}`, KEY, "FORBIDDEN"],
    [`${PLATFORM}/connections/never-made`, undefined, "NOT_FOUND"],
    [`${PLATFORM}/${path}`, undefined, "NOT_FOUND"],
    [`${PLATFORM}/connections/dg`, KEY, "FORBIDDEN"],
    [`${PLATFORM}/connections/dg`, null, "UNAUTHENTICATED"],
  ] as const)
    await refuses(gateway, [{ NOT_FOUND: 404, FORBIDDEN: 403, UNAUTHENTICATED: 401 }[code], code], () =>
      call(gateway, "POST", `${at}/test`, key === undefined ? {} : { key }),
    );
  assert.equal(gateway.sandbox.callCount, calls);
});

test("admin.test-no-trace: a connection of the file is tested as well, and no test leaves a trace", async () => {
  const { db } = gateway.database;
  const left = async () => ({
    audits: (await auditRows(gateway)).length,
    attempts: await db.selectFrom("attempts").selectAll().execute(),
    requests: await db.selectFrom("requests").selectAll().execute(),
    connections: await db.selectFrom("connections").selectAll().orderBy("id").execute(),
    circuits: viewOf(providerHealth, await call(gateway, "GET", `${PLATFORM}/health/providers`)).circuits,
  });
  const before = await left();
  for (let count = 0; count < 6; count += 1) {
    gateway.sandbox.addFault({ step: "probe", times: 1, fault: { kind: "status", status: 503 } });
    assert.equal((await testOf(`${PLATFORM}/connections/dg`)).outcome, "failing");
  }
  const answer = await testOf(`${PLATFORM}/connections/dg`);
  assert.deepEqual(inShort(answer), [true, "accepted", 200, null]);
  assert.deepEqual([answer.kind, answer.asked], ["deepgram", "GET /v1/auth/token"]);
  await gateway.app.requestLog.flush();
  assert.deepEqual(await left(), before);
  assert.deepEqual(
    gateway.sandbox.calls.map(({ method, path }) => `${method} ${path}`),
    Array.from({ length: 7 }, () => "GET /deepgram/v1/auth/token"),
  );
});

test("admin.test-fair: four tests of one scope run at once, others wait, no other scope waits for them, and a hang-up while waiting is no internal error", async (t) => {
  const held: ServerResponse[] = [];
  let isOpen = false;
  const silent = await httpServer(t, (_request, response) => {
    if (isOpen) response.end("{}");
    else held.push(response);
  });
  const id = "silent";
  await connect(gateway, PLATFORM, { id, kind: "deepgram", base_url: silent.origin, api_key: SECRET });
  const path = `${PLATFORM}/connections/${id}`;
  const waiting = Array.from({ length: 5 }, () => testOf(path));
  const gone = new AbortController();
  const hungUp = fetch(`${gateway.adminOrigin}${path}/test`, {
    method: "POST",
    headers: { authorization: `Bearer ${OPERATOR_KEY}` },
    signal: gone.signal,
  });
  internet.name("others.example", [PUBLIC]);
  const own = await tried("deepgram", { baseUrl: "https://others.example/deepgram" }, ACME);
  assert.equal(own.outcome, "accepted");
  assert.equal(held.length, 4);
  gone.abort();
  await assert.rejects(hungUp, { name: "AbortError" });
  isOpen = true;
  for (const response of held) response.end("{}");
  const answers = await Promise.all(waiting);
  assert.deepEqual([...new Set(answers.map(({ outcome }) => outcome))], ["accepted"]);
  assert.deepEqual(
    gateway.logs.filter((line) => (JSON.parse(line) as { level: number }).level >= 50),
    [],
  );
});

test("admin.test-current: a connection created or changed on another process a moment ago is tested as it is now", async () => {
  await using existing = await startAdminGateway({ network: internet, existing: gateway }).then((other) => ({
    ...other,
    [Symbol.asyncDispose]: () => other.close(),
  }));
  const answer = await deepgram({ apiKey: "invalid" });
  const path = `${PLATFORM}/connections/${answer.connection}`;
  const there = async () => viewOf(connectionTest, await call(existing, "POST", `${path}/test`)).outcome;
  assert.deepEqual([answer.outcome, await there()], ["refused", "refused"]);
  await call(gateway, "POST", `${path}/credential`, { body: { api_key: SECRET } });
  assert.equal(await there(), "accepted");
});

for (const [start, path] of [
  ["whisper-cpp", "/v1/audio/transcriptions"],
  ["whisper-cpp-stock", "/inference"],
] as const)
  test(`admin.test-outcome: FLD-20, the test of a whisper.cpp server reports that it accepts audio at ${path}, with /v1 in base_url and without`, async () => {
    for (const end of ["", "/v1"]) {
      const baseUrl = `${gateway.sandbox.origin}/compatible/${start}${end}`;
      const test = await tried("openai-compatible", { baseUrl, apiKey: null });
      assert.deepEqual(inShort(test), [true, "accepted", 200, null]);
      assert.ok(test.message.includes(`\`${path}\``) && test.message.includes("dialect: whisper-cpp"), test.message);
      assert.equal((await tried("openai-compatible", { baseUrl })).outcome, "unproven", "it knows no credentials");
    }
  });
