// Why a provider refused a call, in the request's record: all of it for administrators and the operator, status and code with
// `routing:read`, nothing for other callers.
import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";
import { requestRecord } from "../../../src/contract/requests.ts";
import { HELLO, postChat, streamChat } from "../../harness/chat-client.ts";
import { json } from "../../harness/chat-upstream.ts";
import { type Answer, get, postForm } from "../../harness/client.ts";
import { KEY } from "../../harness/gateway.ts";
import type { ChatGateway } from "../chat/chat-gateway.ts";
import { submittedJob } from "../../../src/contract/jobs.ts";
import { ended } from "../jobs/jobs.ts";
import { ADMIN_KEY, idOf, OPERATOR_KEY, recordOf, startRecordGateway, written } from "./records.ts";

let gateway: ChatGateway;
before(async () => {
  gateway = await startRecordGateway();
});
afterEach(() => gateway.sandbox.clearFaults());
after(() => gateway.close());

const BODY = JSON.stringify({
  error: {
    message: `Rate limit reached for dg-secret, oa-secret ${"x ".repeat(400)}`,
    type: "tokens",
    code: "rate_limit_exceeded",
  },
});

async function asAdministrators(answer: Answer) {
  await written(gateway);
  const records = [];
  for (const [origin, path, key] of [
    [gateway.origin, `/workspace/acme/requests/${idOf(answer)}`, ADMIN_KEY],
    [gateway.adminOrigin, `/admin/v1/requests/${idOf(answer)}`, OPERATOR_KEY],
  ] as const) {
    const found = await get(origin, path, key);
    assert.equal(found.status, 200, found.text);
    records.push(requestRecord.parse(found.json));
  }
  assert.deepEqual(records[0]?.attempts, records[1]?.attempts);
  return records[0]?.attempts ?? [];
}

test("requests.provider-error: FLD-18, the provider's status, code, request id and message are in the record of a transcription, by who may see them", async () => {
  gateway.sandbox.addFault({ fault: { kind: "status", status: 429, body: BODY } });
  const answer = await postForm(gateway.origin);
  assert.equal(answer.code, "NO_HEALTHY_PROVIDER");
  assert.doesNotMatch(answer.text, /Rate limit reached/u);
  const errors = (await asAdministrators(answer)).map(({ provider_error: error }) => error);
  assert.ok(errors.length > 1);
  for (const error of errors) {
    assert.deepEqual([error?.status, error?.code], [429, "rate_limit_exceeded"]);
    assert.match(error?.message ?? "", /^Rate limit reached for /u);
    assert.equal(Array.from(error?.message ?? "").length, 500);
    assert.notEqual(error?.request_id, undefined);
  }
  assert.ok(!JSON.stringify(errors[0]).includes("dg-secret"));
  const seeing = await recordOf(gateway, answer);
  for (const { provider_error: error } of seeing.attempts)
    assert.deepEqual(error, { status: 429, code: "rate_limit_exceeded" });
  const plain = await recordOf(gateway, answer, KEY);
  for (const attempt of plain.attempts) assert.equal("provider_error" in attempt, false);
});

test("requests.provider-error: FLD-18, so they are for chats, paid by leases or under a key, and for streams; what is served has none", async () => {
  const refusal = { error: { message: "No such deployment.", code: "deployment_missing" } };
  gateway.first.behave((call) => json(call, 500, refusal));
  const answers = [
    await postChat(gateway.origin, { messages: HELLO }),
    await postChat(gateway.origin, { messages: HELLO }, { headers: { "idempotency-key": "one" } }),
    await streamChat(gateway.origin, { messages: HELLO }),
  ];
  for (const answer of answers) {
    const [refused, served] = await asAdministrators({ headers: answer.headers } as Answer);
    assert.deepEqual(refused?.provider_error, {
      status: 500,
      code: "deployment_missing",
      request_id: null,
      message: "No such deployment.",
    });
    assert.equal(served?.provider_error, null);
  }
});

test("requests.provider-error: FLD-18, so they are for jobs, whose calls are made later", async () => {
  gateway.sandbox.addFault({ fault: { kind: "status", status: 400, body: BODY } });
  const submitted = await postForm(gateway.origin, { path: "/v1/transcription/jobs" });
  assert.equal(submitted.status, 202);
  const { job_id: id } = submittedJob.parse(submitted.json);
  assert.equal((await ended(gateway.origin, id)).status, "failed");
  const [attempt] = await asAdministrators(submitted);
  assert.deepEqual([attempt?.provider_error?.status, attempt?.provider_error?.code], [400, "rate_limit_exceeded"]);
});
