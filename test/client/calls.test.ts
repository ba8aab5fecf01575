// Every method of `patchbay-gateway/client` against a whole gateway over a real socket.
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { Patchbay, PatchbayError } from "../../src/client/client.ts";
import { keyDescription, limitsReport } from "../../src/contract/account.ts";
import { chatAnswer } from "../../src/contract/chat/chat-answer.ts";
import { job, jobList, submittedJob } from "../../src/contract/jobs.ts";
import { realtimeToken } from "../../src/contract/transcription/realtime.ts";
import { requestRecord } from "../../src/contract/requests.ts";
import { routingDecision, transcriptionEnvelope } from "../../src/contract/transcription/transcription-envelope.ts";
import { usageReport } from "../../src/contract/usage.ts";
import { answer, TEXT } from "../harness/chat-upstream.ts";
import { speech } from "../harness/client.ts";
import { KEY } from "../harness/gateway.ts";
import { until } from "../harness/until.ts";
import type { ChatGateway } from "../http/chat/chat-gateway.ts";
import { NARROW_KEY, recordOf, SEEING_KEY, startRecordGateway } from "../http/requests/records.ts";

const SAMPLE = join(import.meta.dirname, "../../sandbox/samples/dialogue.mp3");
const MESSAGES = [{ role: "user", content: "Hello" }] as const;
let gateway: ChatGateway;
let patchbay: Patchbay;
before(async () => {
  gateway = await startRecordGateway();
  patchbay = new Patchbay({ apiKey: KEY, baseUrl: gateway.origin });
});
after(() => gateway.close());

const codeOf = async (failing: PromiseLike<unknown>) => {
  const error = await Promise.resolve(failing).then(
    () => assert.fail("nothing was thrown"),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof PatchbayError, String(error));
  return error;
};

test("client.audio-sources: the same recording as a blob, a file, bytes, a stream, a path and base64 has the same transcript", async () => {
  const bytes = new Uint8Array(speech());
  const sources = [
    new Blob([bytes]),
    new File([bytes], 'a "call".wav', { type: "audio/wav" }),
    bytes,
    bytes.buffer,
    new Blob([bytes]).stream(),
    { base64: Buffer.from(bytes).toString("base64"), media_type: "audio/wav" },
  ] as const;
  const contents = new Set();
  for (const source of sources) {
    const transcript = transcriptionEnvelope.parse(await patchbay.transcribe(source, { timestamps: "word" }));
    assert.ok(transcript.words.length > 0);
    assert.ok(transcript.warnings.every(({ code }) => code !== "MEDIA_TYPE_MISMATCH"));
    contents.add(transcript.content);
  }
  assert.equal(contents.size, 1);
  const sample = transcriptionEnvelope.parse(await patchbay.transcribe({ path: SAMPLE }));
  assert.equal(sample.duration_seconds, 14.402);
});

test("client.field-types: lists, texts and booleans reach the gateway unchanged, from a form and from JSON", async () => {
  const options = {
    diarization: true,
    keyterms: ["[brackets]", "Grüße"],
    redaction: ["pii", "numbers"],
    language: "en",
    purpose: "meetings",
  } as const;
  for (const source of [new Blob([new Uint8Array(speech())]), { base64: Buffer.from(speech()).toString("base64") }]) {
    gateway.sandbox.clearCalls();
    const { data, requestId } = await patchbay.transcribe(source, options).withResponse();
    assert.equal(data.svc_applied_purpose, "meetings");
    assert.ok(data.segments.every(({ speaker }) => speaker !== null));
    const record = await recordOf(gateway, requestId);
    assert.deepEqual(record.asked?.features.toSorted(), [
      "diarization",
      "keyterms",
      "redaction.numbers",
      "redaction.pii",
    ]);
  }
});

test("client.with-response: withResponse returns the request id and the headers next to the answer", async () => {
  const { data, requestId, response } = await patchbay.transcribe(speech(), {}).withResponse();
  transcriptionEnvelope.parse(data);
  assert.match(requestId, /^req_[0-9a-z]{26}$/u);
  assert.equal(response.headers.get("x-request-id"), requestId);
  requestRecord.parse(await recordOf(gateway, requestId));
  const record = requestRecord.parse(await patchbay.request(requestId));
  assert.deepEqual([record.endpoint, record.idempotency.key], ["POST /v1/transcription", "first"]);
});

test("client.stream-events: a streamed transcript, whose pieces are the whole", async () => {
  const pieces: string[] = [];
  let whole = "";
  for await (const { event, data } of patchbay.transcribeStream(speech())) {
    if (event === "transcript.delta") pieces.push(data.text);
    else if (event === "transcript.completed") whole = transcriptionEnvelope.parse(data.envelope).content;
  }
  assert.ok(pieces.length > 1);
  assert.equal(pieces.join(""), whole);
});

test("client.translation: a translation, and the decisions of dry runs", async () => {
  const translation = transcriptionEnvelope.parse(await patchbay.translate(speech(), { to_language: "en" }));
  assert.equal(translation.object, "translation");
  for (const decided of [
    patchbay.transcribe(speech(), { dry_run: true }),
    patchbay.translate(speech(), { dry_run: true }),
    patchbay.chat({ messages: MESSAGES, dry_run: true }),
    patchbay.jobs.submit(speech(), { dry_run: true }),
  ])
    routingDecision.parse(await decided);
});

test("client.jobs: a job is submitted, waited for, read, exported, listed and cancelled", async () => {
  const { job_id: id } = submittedJob.parse(
    await patchbay.jobs.submit(speech(), { metadata: { call: "17" }, timestamps: "both" }),
  );
  const stages: string[] = [];
  const ended = await patchbay.jobs.wait(id, { onProgress: ({ status }) => stages.push(status) });
  assert.deepEqual([ended.status, ended.metadata, stages.at(-1)], ["succeeded", { call: "17" }, "succeeded"]);
  assert.deepEqual(job.parse(await patchbay.jobs.get(id)), { ...ended, result_url: null });
  assert.ok((await patchbay.jobs.result(ended)).words.length > 0);
  assert.match(await patchbay.jobs.captions(id, "srt"), /^1\n00:00:00,\d{3} --> /u);
  assert.match(await patchbay.jobs.captions(id, "vtt"), /^WEBVTT\n/u);
  const page = jobList.parse(await patchbay.jobs.list({ status: "succeeded", limit: 1 }));
  assert.deepEqual(
    page.data.map(({ job_id }) => job_id),
    [id],
  );
  // Pages contain no results.
  for (const listed of page.data) assert.ok((await patchbay.jobs.result(listed)).words.length > 0);
  const cancelled = job.parse(await patchbay.jobs.cancel(id));
  assert.equal(cancelled.status, "succeeded", "one that has ended stays as it is");
  assert.equal((await codeOf(patchbay.jobs.get("job_none"))).code, "JOB_NOT_FOUND");
  assert.equal((await codeOf(patchbay.jobs.wait("job_none"))).code, "JOB_NOT_FOUND");
});

test("client.job-error: a failed job throws its own error when its transcript is fetched", async () => {
  gateway.sandbox.addFault({ fault: { kind: "status", status: 400 } });
  const { job_id: id } = await patchbay.jobs.submit(speech());
  const ended = await patchbay.jobs.wait(id);
  gateway.sandbox.clearFaults();
  assert.equal(ended.status, "failed");
  const { code, status } = await codeOf(patchbay.jobs.result(ended));
  assert.deepEqual([code, status], [ended.error?.code, null]);
});

test("client.chat: a chat, whole and streamed", async () => {
  const whole = chatAnswer.parse(await patchbay.chat({ messages: MESSAGES, max_tokens: 20 }));
  assert.equal(whole.content, TEXT);
  const deltas: string[] = [];
  for await (const { event, data } of patchbay.chatStream({ messages: MESSAGES }))
    if (event === "chat.delta") deltas.push(data.content);
    else if (event === "chat.completed") assert.equal(chatAnswer.parse(data).content, deltas.join(""));
  assert.equal(deltas.join(""), TEXT);
  const { data, requestId } = await patchbay.chatStream({ messages: MESSAGES }).withResponse();
  const names = [];
  for await (const { event } of data) names.push(event);
  assert.deepEqual([names.at(0), names.at(-1)], ["chat.started", "chat.completed"]);
  assert.equal((await recordOf(gateway, requestId)).endpoint, "POST /v1/chat");
});

test("client.account: what a key is, may and used", async () => {
  const seeing = new Patchbay({ apiKey: SEEING_KEY, baseUrl: `${gateway.origin}/?` });
  assert.equal(keyDescription.parse(await seeing.me()).app?.name, "notes");
  assert.equal(limitsReport.parse(await patchbay.limits()).max_keyterms, 1000);
  const usage = usageReport.parse(await seeing.usage({ group_by: ["capability", "model"] }));
  assert.deepEqual(usage.group_by, ["capability", "model"]);
  realtimeToken.parse(await patchbay.realtimeToken());
});

test("client.error-fields: a refusal is an error with everything that the answer reports", async () => {
  const narrow = new Patchbay({ apiKey: NARROW_KEY, baseUrl: gateway.origin });
  const error = await codeOf(narrow.transcribe(speech(), {}, { idempotencyKey: "mine" }));
  assert.deepEqual(
    { ...Object.fromEntries(Object.entries(error)), message: error.message, requestId: null },
    {
      name: "PatchbayError",
      code: "FORBIDDEN",
      status: 403,
      retryable: false,
      retryAfterSeconds: null,
      requestId: null,
      docUrl: `${gateway.configuration.server.publicUrl}/docs/errors#FORBIDDEN`,
      param: null,
      details: error.details,
      idempotencyKey: "mine",
      message: error.message,
    },
  );
  assert.match(error.requestId ?? "", /^req_/u);
  const noAudio = await codeOf(patchbay.transcribe(new Blob(["no audio at all"])));
  assert.equal(noAudio.code, "UNSUPPORTED_MEDIA_TYPE");
  // A caller that sends a model all the same gets an error, so that it does not believe that the model counts.
  const model = { messages: MESSAGES, model: "gpt-9" };
  assert.equal((await codeOf(patchbay.chat(model))).code, "ROUTE_CONTROL_FIELD_REJECTED");
});

test("client.early-refusal: audio that is too large is refused while it is sent, and that refusal is thrown", async () => {
  const large = new Blob([new Uint8Array(40_000_000)]);
  for (const audio of [large, large.stream()]) {
    const { code, status } = await codeOf(patchbay.transcribe(audio));
    assert.deepEqual([code, status], ["AUDIO_TOO_LARGE", 413]);
  }
});

test("client.stream-leave: leaving the loop, or aborting, ends the provider's call", async () => {
  const { first } = gateway;
  for (const leave of ["break", "abort"] as const) {
    first.calls.length = 0;
    first.behave(({ response }) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write('data: {"choices":[{"index":0,"delta":{"content":"a"}}]}\n\n');
    });
    const abort = new AbortController();
    const reason = new Error("not wanted any more");
    try {
      for await (const { event } of patchbay.chatStream({ messages: MESSAGES }, { signal: abort.signal })) {
        if (event !== "chat.delta") continue;
        if (leave === "break") break;
        abort.abort(reason);
      }
    } catch (error) {
      assert.equal(error, reason);
    }
    await until(() => first.calls.length === 1);
    await first.calls[0]?.closed;
  }
});

test("client.abort: an abort throws the signal's reason; under a key the work continues, without one it ends with the call", async () => {
  const { first } = gateway;
  const reason = new Error("not wanted any more");
  for (const idempotencyKey of ["kept", null]) {
    first.calls.length = 0;
    const abort = new AbortController();
    first.behave(() => abort.abort(reason));
    const call = { signal: abort.signal, idempotencyKey };
    await assert.rejects(patchbay.chat({ messages: MESSAGES }, call), reason);
    const [upstream] = first.calls;
    assert.ok(upstream !== undefined);
    if (idempotencyKey === null) await upstream.closed;
    else answer(upstream);
  }
  first.behave(answer);
  const kept = await patchbay.chat({ messages: MESSAGES }, { idempotencyKey: "kept" }).withResponse();
  assert.deepEqual([kept.data.content, kept.response.headers.get("x-svc-idempotent-replay")], [TEXT, "true"]);
  assert.equal(first.calls.length, 1, "no call but the one that was ended");
  const gone = AbortSignal.abort(reason);
  await assert.rejects(patchbay.me({ signal: gone }), reason);
  await assert.rejects(patchbay.jobs.wait("job_none", { signal: gone }), reason);
});
