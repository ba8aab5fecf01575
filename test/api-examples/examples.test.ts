// The examples of the OpenAPI documents: every operation has one, each is valid, and a gateway with simulated providers answers each request in its shape.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { readExamples } from "../../scripts/api-examples.ts";
import { ADMIN_ENDPOINTS } from "../../src/contract/endpoints/admin-endpoints.ts";
import { completionWebhook } from "../../src/contract/endpoints/completion-webhook.ts";
import { type EndpointContract, pathParameters } from "../../src/contract/endpoints/endpoint.ts";
import { ENDPOINTS } from "../../src/contract/endpoints/endpoints.ts";
import { curlCommand } from "../../src/http/pages/openapi-examples.ts";
import { signatureHeaders } from "../../src/webhooks/sign.ts";
import { verifyWebhook } from "../../src/webhooks/verify.ts";
import { createRecorder } from "./recorder.ts";
import { runScenario } from "./scenario.ts";
import { shapeDifference } from "./shape-difference.ts";
import { stableExamples } from "./stable.ts";
import { openWorld } from "./world.ts";

const EXAMPLES = readExamples();
const CONTRACTS = new Map([...ADMIN_ENDPOINTS, ...ENDPOINTS].map((contract) => [contract.operationId, contract]));
const WEBHOOK_SECRET = "whsec_Gcns7gvKLiF+0k+aDVz4AmYEqf7YS9i5eN1yruX5lKU=";

test("api.openapi-examples: every operation has an example of its request and of its main answer, and no example is left over", () => {
  assert.deepEqual(Object.keys(EXAMPLES).toSorted(), [...CONTRACTS.keys()].toSorted());
  for (const [operationId, contract] of CONTRACTS) assertComplete(operationId, contract);
});

function assertComplete(operationId: string, contract: EndpointContract): void {
  const { path, headers, bodies, answers } = EXAMPLES[operationId] ?? assert.fail(operationId);
  assert.deepEqual(Object.keys(path).toSorted(), pathParameters(contract).toSorted(), operationId);
  const { json, multipart } = contract.requestBody ?? {};
  const types = [...(json ? ["application/json"] : []), ...(multipart ? ["multipart/form-data"] : [])];
  assert.deepEqual(Object.keys(bodies).toSorted(), types, operationId);
  for (const [name, field] of Object.entries(contract.headers?.shape ?? {}))
    assert.ok(name in headers || field.safeParse(undefined).success, `${operationId} ${name}`);
  const documented = Object.entries(answers).filter(([status, byType]) => {
    const offered = Object.keys(contract.responses[Number(status)]?.content ?? {});
    const isMain = (type: string): boolean => !offered.includes("application/json") || type === "application/json";
    return offered.length === 0 || offered.some((type) => isMain(type) && type in byType);
  });
  assert.ok(documented.length > 0, `${operationId} has no example of an answer`);
}

test("api.openapi-examples: every example is valid by the schemas of its operation", () => {
  for (const [operationId, { bodies, answers, query }] of Object.entries(EXAMPLES)) {
    const contract = CONTRACTS.get(operationId) ?? assert.fail(operationId);
    for (const body of [bodies["application/json"]]) if (body !== undefined) contract.requestBody?.json?.parse(body);
    for (const name of Object.keys(query))
      assert.ok(contract.query?.shape[name] !== undefined, `${operationId} ${name}`);
    for (const [status, byType] of Object.entries(answers))
      for (const [type, body] of Object.entries(byType)) {
        const schema = contract.responses[Number(status)]?.content[type];
        assert.ok(schema !== undefined, `${operationId} ${status} ${type}`);
        schema.parse(body);
      }
  }
});

test("api.openapi-examples: a gateway accepts the requests of the examples and answers in their shape", async (t) => {
  const world = await openWorld();
  t.after(() => world.close());
  const startedAt = new Date();
  const recorder = createRecorder(world.gateway);
  await runScenario(world, recorder);
  const answered = stableExamples(recorder.recorded, world.gateway, startedAt);
  assert.deepEqual(Object.keys(answered).toSorted(), Object.keys(EXAMPLES).toSorted());
  for (const [operationId, { answers, ...request }] of Object.entries(answered)) {
    const { answers: documented, ...asked } = EXAMPLES[operationId] ?? assert.fail(operationId);
    const hint = `${operationId}: run node scripts/record-examples.ts`;
    assert.deepEqual([request.bodies, request.query], [asked.bodies, asked.query], hint);
    assert.equal(shapeDifference({ ...request, answers }, { ...asked, answers: documented }), null, hint);
  }
});

test("api.openapi-examples: shapes differ by names, types and empty lists", () => {
  const document = {
    id: "job_1",
    data: [
      { at: null, count: 1 },
      { at: "now", name: "" },
    ],
  };
  assert.equal(
    shapeDifference(document, {
      id: "job_2",
      data: [
        { at: "then", count: 2 },
        { at: "now", name: "x" },
      ],
    }),
    null,
  );
  assert.equal(shapeDifference(document, { ...document, data: [] }), "/data");
  assert.equal(shapeDifference(document, { ...document, data: [{ at: null, count: 1 }] }), "/data/1");
  assert.equal(shapeDifference(document, { ...document, id: 1 }), "/id");
  assert.equal(shapeDifference(document, { ...document, more: 1 }), "/more");
});

test("api.openapi-webhooks: the example of the completion webhook is valid, and its signatures verify", () => {
  const { headers, body } = completionWebhook.example;
  completionWebhook.headers.parse(headers);
  completionWebhook.body.parse(body);
  const text = JSON.stringify(body);
  const timestampSeconds = Number(headers["X-SVC-Webhook-Ts"]);
  const verdict = verifyWebhook({
    body: Buffer.from(text),
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])),
    secret: WEBHOOK_SECRET,
    nowMs: timestampSeconds * 1_000,
  });
  assert.ok(verdict.ok, JSON.stringify(verdict));
  const message = { id: headers["X-SVC-Webhook-Id"], body: text, timestampSeconds };
  const signed = signatureHeaders(message, { current: WEBHOOK_SECRET, previous: null });
  for (const [name, value] of Object.entries(headers)) assert.equal(value, signed[name.toLowerCase()], name);
});

test("api.openapi-webhooks: the headers that a delivery has are the documented ones", () => {
  const signed = signatureHeaders(
    { id: "evt_1", body: "{}", timestampSeconds: 1 },
    { current: "whsec_AA==", previous: "whsec_BB==" },
  );
  const documented = Object.keys(completionWebhook.headers.shape).map((name) => name.toLowerCase());
  assert.deepEqual(documented.toSorted(), [...Object.keys(signed), "x-svc-webhook-test"].toSorted());
});

test("api.openapi-examples: the command of an operation is quoted for a shell", () => {
  const contract = CONTRACTS.get("createChat") ?? assert.fail();
  const example = {
    path: {},
    query: {},
    headers: {},
    bodies: { "application/json": { text: "It's $5" } },
    answers: {},
  };
  assert.equal(
    curlCommand(contract, example),
    String.raw`curl -s "$PATCHBAY_URL/v1/chat" \
  -H "Authorization: Bearer $PATCHBAY_API_KEY" \
  -H "Content-Type: application/json" \
  -d '{"text":"It'\''s $5"}'`,
  );
});

test("api.openapi-examples: the documents have the examples, each on one line", () => {
  for (const [file, contracts] of [
    ["openapi.json", ENDPOINTS],
    ["openapi-admin.json", ADMIN_ENDPOINTS],
  ] as const) {
    const lines = readFileSync(new URL(`../../${file}`, import.meta.url), "utf8").split("\n");
    const commands = lines.filter((line) => /^ {8}"x-codeSamples": \[\{.+\}\],$/u.test(line));
    assert.equal(commands.length, contracts.length, file);
    assert.ok(lines.length <= MOST_LINES, `${file} has ${lines.length} lines`);
  }
});

/** Above it, readers of a change to the contract no longer see what changed. */
const MOST_LINES = 20_743;
