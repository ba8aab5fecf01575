// The request log of refused requests: every answer to a known key has exactly one record, with its decision or the reason why there was
// none, and nothing of what was sent.
import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { inspect } from "node:util";
import type { RequestId } from "../../../src/contract/ids.ts";
import { HELLO, postChat } from "../../harness/chat-client.ts";
import { type Answer, postForm, postJson, send } from "../../harness/client.ts";
import { KEY } from "../../harness/gateway.ts";
import type { ChatGateway } from "../chat/chat-gateway.ts";
import { ask, open } from "../edge/harness.ts";
import { NARROW_KEY, POOR_KEY, recordOf, SLOW_KEY, startRecordGateway, STRICT_KEY, written } from "./records.ts";

let gateway: ChatGateway;
before(async () => {
  gateway = await startRecordGateway();
});
afterEach(() => gateway.sandbox.clearFaults());
after(() => gateway.close());

const post = (call: Parameters<typeof postForm>[1] = {}): Promise<Answer> => postForm(gateway.origin, call);

type Case = readonly [
  name: string,
  ask: () => Promise<Answer>,
  code: string,
  outcome: "none" | "refused" | "routed",
  reason: string | null,
];
const CASES: readonly Case[] = [
  ["a key without the scope", () => post({ key: NARROW_KEY }), "FORBIDDEN", "none", "FORBIDDEN"],
  [
    "a malformed field",
    () => post({ fields: { diarization: "perhaps" } }),
    "INVALID_REQUEST",
    "none",
    "INVALID_REQUEST",
  ],
  [
    "a route-control field",
    () => post({ fields: { model: "nova-3" } }),
    "ROUTE_CONTROL_FIELD_REJECTED",
    "none",
    "ROUTE_CONTROL_FIELD_REJECTED",
  ],
  [
    "a body that is no audio",
    () => post({ file: Buffer.from("no audio at all") }),
    "UNSUPPORTED_MEDIA_TYPE",
    "none",
    "UNSUPPORTED_MEDIA_TYPE",
  ],
  [
    "compressed bodies",
    () => post({ headers: { "content-encoding": "gzip" } }),
    "UNSUPPORTED_MEDIA_TYPE",
    "none",
    "UNSUPPORTED_MEDIA_TYPE",
  ],
  [
    "a feature that no target has",
    () => post({ fields: { redaction: "phi", diarization: "true", multichannel: "true", stream: "true" } }),
    "REQUIRED_FEATURE_UNSUPPORTED",
    "refused",
    "unsupported",
  ],
  [
    "a purpose under the strict policy",
    () => post({ fields: { purpose: "no-such", purpose_policy: "strict" } }),
    "audio_purpose_unavailable",
    "refused",
    "purpose_unavailable",
  ],
  ["a route without audio", () => post({ key: STRICT_KEY }), "NO_HEALTHY_PROVIDER", "refused", "no_model"],
  ["a budget that is spent", () => post({ key: POOR_KEY }), "BUDGET_EXCEEDED", "routed", null],
  [
    "a budget that is spent, of chat",
    () => postChat(gateway.origin, { messages: HELLO }, { key: POOR_KEY }),
    "BUDGET_EXCEEDED",
    "routed",
    null,
  ],
  [
    "a job's budget that is spent",
    () => post({ key: POOR_KEY, path: "/v1/transcription/jobs" }),
    "BUDGET_EXCEEDED",
    "routed",
    null,
  ],
  [
    "a job that is not asked for well",
    () => post({ path: "/v1/transcription/jobs", fields: { task: "sing" } }),
    "INVALID_REQUEST",
    "none",
    "INVALID_REQUEST",
  ],
  [
    "a chat of more tokens than any model writes",
    () => postChat(gateway.origin, { messages: HELLO, max_tokens: 999_999 }),
    "REQUIRED_FEATURE_UNSUPPORTED",
    "refused",
    "unsupported",
  ],
  [
    "a chat without messages",
    () => postChat(gateway.origin, { messages: [] }),
    "INVALID_REQUEST",
    "none",
    "INVALID_REQUEST",
  ],
  [
    "a model by name",
    () => postJson(gateway.origin, { model: "gpt-5", messages: HELLO }, { path: "/v1/chat/completions" }),
    "MODEL_NOT_SELECTABLE",
    "none",
    "MODEL_NOT_SELECTABLE",
  ],
  [
    "a URL that is not allowed",
    () => postJson(gateway.origin, { audio: { url: "https://media.example/secret-name.wav?token=hidden" } }),
    "AUDIO_URL_REJECTED",
    "none",
    "AUDIO_URL_REJECTED",
  ],
];

for (const [name, ask, code, outcome, reason] of CASES) {
  test(`requests.refused, requests.summary: ${name}: ${code} is on record, and nothing was called`, async () => {
    const before = gateway.sandbox.callCount + gateway.first.calls.length;
    const answer = await ask();
    assert.equal(answer.code, code, answer.text);
    const key = name.includes("budget") ? POOR_KEY : name.includes("without audio") ? STRICT_KEY : KEY;
    const record = await recordOf(gateway, answer, key);
    assert.deepEqual([record.status, record.code], [answer.status, code]);
    assert.deepEqual(record.decision, { outcome, reason });
    assert.deepEqual(record.attempts, []);
    assert.match(record.summary, new RegExp(code, "u"));
    assert.equal(gateway.sandbox.callCount + gateway.first.calls.length, before);
  });
}

test("requests.refused: what was refused by quota and by idempotency is on record", async () => {
  await post({ key: SLOW_KEY });
  const limited = await recordOf(gateway, await post({ key: SLOW_KEY }), SLOW_KEY);
  assert.deepEqual([limited.code, limited.decision.reason], ["RATE_LIMITED", "RATE_LIMITED"]);
  const headers = { "idempotency-key": "twice" };
  await post({ headers });
  const reused = await recordOf(gateway, await post({ headers, fields: { diarization: "true" } }));
  assert.deepEqual([reused.code, reused.idempotency], ["IDEMPOTENCY_KEY_REUSED", { key: "reused", replayed: false }]);
});

test("requests.one-record, requests.no-key: every request leaves exactly one record; one without a valid key belongs to no workspace", async () => {
  await written(gateway);
  const count = async () => {
    await written(gateway);
    const rows = await gateway.database.db.selectFrom("requests").select("id").execute();
    return { rows: rows.length, ids: new Set(rows.map(({ id }) => id)).size };
  };
  const before = await count();
  assert.equal((await send(`${gateway.origin}/v1/transcription`, { method: "POST" })).status, 401);
  const owners = () => gateway.database.db.selectFrom("requests").select(["workspace_id", "key_id", "code"]);
  while ((await count()).rows === before.rows) await turn();
  assert.deepEqual(await owners().where("workspace_id", "is", null).execute(), [
    { workspace_id: null, key_id: null, code: "UNAUTHENTICATED" },
  ]);
  const answered = [await post(), await post({ fields: { nonsense: "1" } }), await postChat(gateway.origin, {})];
  for (const answer of answered) await recordOf(gateway, answer);
  const seen = await count();
  assert.equal(seen.rows, before.rows + 1 + answered.length);
  assert.equal(seen.ids, seen.rows);
});

const OWN = `Host: x\r\nConnection: close\r\nAuthorization: Bearer ${KEY}\r\n`;
const CHAT = "POST /v1/chat";

/** What breaks at the level of HTTP (docs/reference/requests.md): as bytes, for no client sends it. */
const BROKEN: readonly (readonly [name: string, head: string, code: string, endpoint: string])[] = [
  [
    "a field sent twice",
    `POST /v1/chat HTTP/1.1\r\n${OWN}X-SVC-Purpose: a\r\nX-SVC-Purpose: b\r\n\r\n`,
    "INVALID_REQUEST",
    CHAT,
  ],
  ["a head of 17 KiB", `POST /v1/chat HTTP/1.1\r\n${OWN}A: ${"a".repeat(17_000)}\r\n\r\n`, "HEADERS_TOO_LARGE", CHAT],
  ["an expectation", `POST /v1/chat HTTP/1.1\r\n${OWN}Expect: tea\r\n\r\n`, "EXPECTATION_FAILED", CHAT],
  [
    "a body whose framing breaks",
    `POST /v1/chat HTTP/1.1\r\n${OWN}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n`,
    "INVALID_REQUEST",
    CHAT,
  ],
  ["a path that is none", `GET /v1/nothing?secret=canary HTTP/1.1\r\n${OWN}\r\n`, "NOT_FOUND", "GET (none)"],
  ["a path that cannot be decoded", `GET /v1/%zz HTTP/1.1\r\n${OWN}\r\n`, "NOT_FOUND", "GET (none)"],
  ["another method", `PUT /v1/chat HTTP/1.1\r\n${OWN}\r\n`, "METHOD_NOT_ALLOWED", "PUT (none)"],
];

for (const [name, head, code, endpoint] of BROKEN) {
  test(`requests.head-refused, requests.broken-off, requests.no-endpoint: ${name} leaves a record of ${code} with its key`, async () => {
    const reply = await ask(portOf(gateway.origin), head);
    assert.deepEqual(JSON.parse(reply.body).error.code, code);
    const record = await recordOf(gateway, reply.headers["x-request-id"] ?? "");
    assert.deepEqual([record.endpoint, record.code, record.status], [endpoint, code, reply.status]);
    assert.deepEqual(record.decision, { outcome: "none", reason: code });
    const [row] = await gateway.database.db
      .selectFrom("requests")
      .selectAll()
      .where("id", "=", reply.headers["x-request-id"] as RequestId)
      .execute();
    assert.doesNotMatch(inspect(row), /canary|nothing/u);
  });
}

test("requests.broken-off: an upload that its caller breaks off leaves a record", async () => {
  const { socket, replies } = await open(portOf(gateway.origin));
  const before = await newest();
  socket.write(
    `POST /v1/transcription HTTP/1.1\r\n${OWN}Content-Type: multipart/form-data; boundary=b\r\nContent-Length: 9000\r\nExpect: 100-continue\r\n\r\n`,
  );
  // Read from here on.
  await replies(1);
  socket.resetAndDestroy();
  let now = await newest();
  while (now?.id === before?.id) {
    await turn();
    now = await newest();
  }
  assert.deepEqual([now?.endpoint, now?.status], ["POST /v1/transcription", 499]);
});

test("requests.two-keys, requests.no-endpoint: a request refused for two keys belongs to no one; without a key, an unknown path leaves no record", async () => {
  const twice = await ask(
    portOf(gateway.origin),
    `POST /v1/chat HTTP/1.1\r\n${OWN}Authorization: Bearer ${POOR_KEY}\r\n\r\n`,
  );
  const strange = await ask(portOf(gateway.origin), "GET /v1/nothing HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  for (;;) {
    await written(gateway);
    const rows = await gateway.database.db.selectFrom("requests").select(["id", "workspace_id"]).execute();
    const found = rows.find(({ id }) => id === twice.headers["x-request-id"]);
    if (found !== undefined) {
      assert.equal(found.workspace_id, null);
      assert(rows.every(({ id }) => id !== strange.headers["x-request-id"]));
      return;
    }
    await turn();
  }
});

test("requests.unreadable: what is no readable HTTP leaves no record: it is counted by its code, and logged", async () => {
  const reply = await ask(portOf(gateway.origin), `POST /v1/chat HTTP/1.1\r\n${OWN}A: ${"a".repeat(30_000)}\r\n\r\n`);
  assert.equal(reply.status, 431);
  const broken = await ask(portOf(gateway.origin), `POST /v1/chat HTTP/1.1\r\n${OWN}Content-Length: 5x\r\n\r\n`);
  assert.equal(broken.status, 400);
  const metrics = await (await fetch(`${gateway.adminOrigin}/metrics`)).text();
  assert.match(metrics, /^svc_http_unreadable_total\{code="HEADERS_TOO_LARGE"\} 1$/mu);
  assert.match(metrics, /^svc_http_unreadable_total\{code="INVALID_REQUEST"\} 1$/mu);
  for (const { headers } of [reply, broken])
    assert(gateway.logs.some((line) => line.includes(headers["x-request-id"] ?? "no id")));
});

const portOf = (origin: string): number => Number(new URL(origin).port);

async function newest() {
  await written(gateway);
  const rows = gateway.database.db.selectFrom("requests").select(["id", "endpoint", "status"]);
  return rows.orderBy("at", "desc").orderBy("id", "desc").executeTakeFirst();
}
