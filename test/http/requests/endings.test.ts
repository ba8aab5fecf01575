// The request log of requests that ended otherwise than by an answer read to its end: broken streams, callers who hang up, other
// endpoints, what a provider has yet to delete.
import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { brand } from "../../../src/contract/ids.ts";
import { fixture } from "../../audio/build-audio.ts";
import { HELLO, streamChat } from "../../harness/chat-client.ts";
import { beginStream, chunk } from "../../harness/chat-upstream.ts";
import { postForm } from "../../harness/client.ts";
import { HELD, releaseHeld } from "../../harness/held.ts";
import type { ChatGateway } from "../chat/chat-gateway.ts";
import { ended } from "../jobs/jobs.ts";
import { idOf, recordOf, startRecordGateway, written } from "./records.ts";

/** One second exactly. */
const AUDIO = fixture("speech-44k-stereo.wav");
let gateway: ChatGateway;
before(async () => {
  gateway = await startRecordGateway();
});
afterEach(() => gateway.sandbox.clearFaults());
after(() => gateway.close());

test("requests.stream-error: a stream of a transcript that breaks after its 200 has its error's code on record", async () => {
  gateway.sandbox.addFault({ wire: "openai", fault: { kind: "cut_reply" } });
  gateway.sandbox.addFault({ wire: "deepgram", fault: { kind: "status", status: 500 } });
  const answer = await postForm(gateway.origin, { file: AUDIO, fields: { stream: "true" } });
  assert.match(answer.text, /event: error/u);
  const record = await recordOf(gateway, answer);
  assert.deepEqual([record.status, record.code, record.asked?.stream], [200, "PROVIDER_RESULT_UNKNOWN", true]);
  assert.equal(record.attempts.at(-1)?.outcome, "unknown");
  assert.match(record.summary, /^Its stream broke with PROVIDER_RESULT_UNKNOWN\./u);
});

test("requests.stream-error: a stream of chat that breaks after its 200 has its error's code on record", async () => {
  let cut = (): unknown => undefined;
  gateway.first.behave((call) => {
    beginStream(call);
    chunk(call, { content: "Half of" });
    cut = () => call.response.destroy();
  });
  // Not before the caller has the first of it: until then another target would answer.
  const streamed = await streamChat(
    gateway.origin,
    { messages: HELLO },
    {
      onEvent: ({ event }) => {
        if (event === "chat.delta") cut();
      },
    },
  );
  const record = await recordOf(gateway, streamed.headers.get("x-request-id") ?? "");
  assert.deepEqual([record.status, record.code], [200, "PROVIDER_RESULT_UNKNOWN"]);
  assert.deepEqual(
    record.attempts.map(({ position, outcome }) => [position, outcome]),
    [[1, "unknown"]],
  );
});

test("requests.hang-up: a caller who hangs up leaves 499, and the stopped call as charged", async () => {
  gateway.sandbox.addFault({ wire: "deepgram", fault: { kind: "stall" } });
  const caller = new AbortController();
  const lost = assert.rejects(postForm(gateway.origin, { file: AUDIO, signal: caller.signal }), { name: "AbortError" });
  await gateway.sandbox.waitForCall((call) => call.outcome === "stalled");
  caller.abort();
  await lost;
  const record = await recordOf(gateway, await newest(499));
  assert.deepEqual(
    record.attempts.map(({ outcome, charge_usd: charge }) => [outcome, charge]),
    [["aborted", "0.001"]],
  );
  assert.match(record.summary, /disconnected/u);
});

test("requests.keyed-hang-up: under a key the work continues, and the record waits for its end", async () => {
  gateway.sandbox.clearCalls();
  gateway.sandbox.addFault({ wire: "deepgram", fault: HELD });
  const caller = new AbortController();
  const headers = { "idempotency-key": "gone" };
  const lost = assert.rejects(postForm(gateway.origin, { file: AUDIO, headers, signal: caller.signal }), {
    name: "AbortError",
  });
  await gateway.sandbox.waitForCall((call) => call.file !== null);
  caller.abort();
  await lost;
  await releaseHeld(gateway.sandbox);
  const record = await recordOf(gateway, await newest(499, "first"));
  assert.deepEqual(
    record.attempts.map(({ outcome }) => outcome),
    ["succeeded"],
  );
  assert.match(record.summary, /Served by .* after the caller had disconnected/u);
});

test("requests.own-endpoint: translations, OpenAI-compatible endpoints and mode async leave records of their own endpoint", async () => {
  for (const [path, fields, status] of [
    ["/v1/translation", { to_language: "en" }, 200],
    ["/v1/audio/transcriptions", { model: "auto" }, 200],
    ["/v1/audio/translations", { model: "auto" }, 200],
    ["/v1/transcription", { mode: "async" }, 202],
  ] as const) {
    const answer = await postForm(gateway.origin, { path, file: AUDIO, fields });
    const record = await recordOf(gateway, answer);
    assert.deepEqual([record.endpoint, record.status], [`POST ${path}`, status], answer.text);
    assert.equal(record.decision.outcome, "routed");
    if (record.job !== null) await ended(gateway.origin, record.job.id);
  }
});

test("requests.job: a job that failed is recorded as failed, with every call it made", async () => {
  gateway.sandbox.addFault({ fault: { kind: "status", status: 400 } });
  const answer = await postForm(gateway.origin, { path: "/v1/transcription/jobs", file: AUDIO });
  const taken = await recordOf(gateway, answer);
  await ended(gateway.origin, taken.job?.id ?? "");
  const record = await recordOf(gateway, answer);
  assert.deepEqual([record.status, record.job?.status, record.job?.code], [202, "failed", "PROVIDER_REJECTED"]);
  assert.deepEqual(
    record.attempts.map(({ outcome }) => outcome),
    ["failed:rejected", "failed:rejected", "failed:rejected"],
  );
  assert.deepEqual(
    record.job?.candidates.map(({ outcome }) => outcome),
    ["failed", "failed", "failed", "left"],
  );
});

test("requests.provider-deletion: what a provider has yet to delete is in the record", async () => {
  const answer = await postForm(gateway.origin, { file: AUDIO });
  assert.equal((await recordOf(gateway, answer)).provider_deletion, "none");
  const row = await gateway.database.db
    .selectFrom("requests")
    .select(["workspace_id", "app_id"])
    .where("id", "=", idOf(answer))
    .executeTakeFirstOrThrow();
  await gateway.app.gateway.deletions.owe({
    workspaceId: brand("workspace", row.workspace_id ?? ""),
    appId: brand("app", row.app_id ?? ""),
    subject: idOf(answer),
    account: "platform/dg",
    provider: "deepgram",
    testMode: false,
    run: { id: "run", details: {} },
    dueInSeconds: 600,
  });
  assert.equal((await recordOf(gateway, answer)).provider_deletion, "pending");
});

/** The id of the newest record with this status, once there is one. */
async function newest(status: number, keyUse = "not_sent"): Promise<string> {
  for (;;) {
    await written(gateway);
    const row = await gateway.database.db
      .selectFrom("requests")
      .select("id")
      .where("status", "=", status)
      .where("key_use", "=", keyUse)
      .orderBy("id", "desc")
      .executeTakeFirst();
    if (row !== undefined) return row.id;
    await turn();
  }
}
