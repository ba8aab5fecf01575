// POST /v1/transcription: what it refuses, and the errors that it answers.
import assert from "node:assert/strict";
import { afterEach, after, before, test } from "node:test";
import { ENDPOINTS } from "../../../src/contract/endpoints/endpoints.ts";
import { problemBody } from "../../../src/contract/error-body.ts";
import { openapiDocument } from "../../../src/http/pages/openapi.ts";
import { wav } from "../../audio/build-audio.ts";
import { type Answer, detailsOf, envelopeOf, postForm, postJson, speech } from "../../harness/client.ts";
import { resolveReference } from "../../harness/openapi-references.ts";
import { configurationWith } from "../../harness/configuration.ts";
import { KEY, startGateway, type TestGateway } from "../../harness/gateway.ts";

const CHAT_KEY = "canary-key-without-transcribe-01";
const ADMIN_KEY = "canary-key-of-the-administrator-1";
const OPERATOR_KEY = "canary-key-of-the-operator-00001";
const BUSY_KEY = "canary-key-with-a-quota-of-one-01";
/** Texts that callers and providers send and that must come out nowhere. */
const CANARIES = [
  KEY,
  CHAT_KEY,
  ADMIN_KEY,
  OPERATOR_KEY,
  BUSY_KEY,
  "dg-secret",
  "oa-secret",
  "canary-file-name",
  "canary-prompt",
  "canary-keyterm",
  "canary-idempotency",
  "canary-provider-body",
];
const document = openapiDocument(ENDPOINTS) as {
  readonly paths: Record<
    string,
    { readonly post: { readonly responses: Record<string, { readonly description?: string }> } }
  >;
};

let gateway: TestGateway;
before(async () => {
  gateway = await startGateway({
    file: (sandbox) =>
      configurationWith(sandbox, {
        limits: { max_audio_duration_seconds: 60, max_audio_bytes: 1_000_000 },
        routes: { speech: ["dg/nova-3", "oa/whisper-1"] },
        operator: OPERATOR_KEY,
        admin: ADMIN_KEY,
        apps: {
          notes: {
            keys: {
              "notes-key": { secret: KEY, scopes: ["transcribe"] },
              "chat-key": { secret: CHAT_KEY, scopes: ["chat", "jobs"] },
              "busy-key": { secret: BUSY_KEY, quota: { requests_per_minute: 1 } },
            },
          },
        },
      }),
  });
});
after(() => gateway.close());
afterEach(() => {
  gateway.sandbox.clearFaults();
  assertNoCanary("the log", gateway.logs.join("\n"));
});

const base64 = () => Buffer.from(speech()).toString("base64");
const post = (call: Parameters<typeof postForm>[1] = {}) =>
  postForm(gateway.origin, { fileName: "canary-file-name.wav", ...call });

function assertNoCanary(where: string, text: string): void {
  for (const canary of CANARIES) assert.ok(!text.includes(canary), `${canary} is in ${where}: ${text}`);
}

function assertRefusal(answer: Answer, status: number, code: string): void {
  assert.deepEqual([answer.status, answer.code], [status, code], answer.text);
  const response = document.paths["/v1/transcription"]?.post.responses[String(status)] ?? {};
  const documented = resolveReference(document, response).description ?? "";
  assert.ok(documented.includes(`\`${code}\``), `${status} ${code} is not documented`);
  assertNoCanary("the answer", answer.text);
  assertNoCanary("the headers", JSON.stringify([...answer.headers]));
}

/** Refused before any provider is called. */
async function refuses(send: () => Promise<Answer>, status: number, code: string): Promise<Answer> {
  const before = gateway.sandbox.callCount;
  const answer = await send();
  assertRefusal(answer, status, code);
  assert.equal(gateway.sandbox.callCount, before, "a provider was called");
  return answer;
}

const paramOf = (answer: Answer) => (answer.json as { error: { param: string | null } }).error.param;
const issuesOf = (answer: Answer) =>
  (detailsOf(answer)["issues"] as readonly { readonly param: string }[]).map(({ param }) => param);

test("request-body.route-control: provider and model are refused as route control in body, form and query, before other faults", async () => {
  const code = "ROUTE_CONTROL_FIELD_REJECTED";
  for (const name of ["provider", "model"]) {
    const inBody = await refuses(
      () => postJson(gateway.origin, { audio: base64(), nonsense: 1, [name]: "x" }),
      400,
      code,
    );
    assert.equal(paramOf(inBody), name);
    const member = { audio: { base64: base64(), [name]: "x" }, nonsense: 1 };
    assert.equal(paramOf(await refuses(() => postJson(gateway.origin, member), 400, code)), `audio.${name}`);
    for (const field of [name, `audio.${name}`]) {
      const inForm = await refuses(() => post({ fields: { nonsense: "1", [field]: "x" } }), 400, code);
      assert.equal(paramOf(inForm), field);
      const inQuery = await refuses(() => post({ query: `?${field}=x`, fields: { nonsense: "1" } }), 400, code);
      assert.equal(paramOf(inQuery), field);
    }
  }
});

test("request-body.query: a field in the query is 400, even a known one", async () => {
  const answer = await refuses(() => post({ query: "?language=en" }), 400, "INVALID_REQUEST");
  assert.equal(paramOf(answer), "language");
});

test("transcription.mode-async, jobs.scope: mode async needs the scope of jobs, however the body is sent", async () => {
  await refuses(() => post({ fields: { mode: "async" } }), 403, "FORBIDDEN");
  await refuses(() => postJson(gateway.origin, { audio: base64(), mode: "async" }), 403, "FORBIDDEN");
});

test("remote-audio.listed-host, remote-audio.https-only: an audio.url that is not allowed is AUDIO_URL_REJECTED with details.reason, and is not fetched", async () => {
  for (const [url, reason] of [
    ["https://media.example/canary-file-name.wav", "host_not_allowed"],
    [`${gateway.sandbox.origin}/canary-file-name.wav`, "scheme"],
  ] as const) {
    const json = await refuses(() => postJson(gateway.origin, { audio: { url } }), 400, "AUDIO_URL_REJECTED");
    assert.deepEqual([paramOf(json), detailsOf(json)], ["audio.url", { reason }]);
  }
  const form = new FormData();
  form.append("audio.url", "https://media.example/canary-file-name.wav");
  const response = await fetch(`${gateway.origin}/v1/transcription`, {
    method: "POST",
    headers: { authorization: `Bearer ${KEY}` },
    body: form,
  });
  const { error } = (await response.json()) as { error: { code: string; details: unknown } };
  assert.deepEqual([error.code, error.details], ["AUDIO_URL_REJECTED", { reason: "host_not_allowed" }]);
});

test("transcription.stream-required: stream and mode realtime are features like others: where no target does them with the rest, 422", async () => {
  for (const fields of [
    { stream: "true", redaction: "pii" },
    { mode: "realtime", redaction: "pii" },
  ]) {
    const answer = await refuses(() => post({ fields }), 422, "REQUIRED_FEATURE_UNSUPPORTED");
    assert.deepEqual(detailsOf(answer)["missing"], ["redaction.pii"], "what neither does: one streams, but not this");
    assert.deepEqual(
      (detailsOf(answer)["candidates"] as readonly { readonly position: number }[]).map(({ position }) => position),
      [1, 2],
    );
  }
});

test("request-body.all-issues, request-body.unknown-field: every unknown and every malformed field is in details.issues, the first is param", async () => {
  const expected = ["audio.codec", "diarization", "nonsense", "speaker_count_hint", "temperature"];
  const json = await refuses(
    () =>
      postJson(gateway.origin, {
        nonsense: 1,
        temperature: 0,
        diarization: "yes",
        speaker_count_hint: 99,
        audio: { base64: base64(), codec: "x" },
      }),
    400,
    "INVALID_REQUEST",
  );
  assert.deepEqual(issuesOf(json).toSorted(), expected);
  assert.equal(paramOf(json), issuesOf(json)[0]);
  const fields = {
    nonsense: "1",
    temperature: "0",
    diarization: "yes",
    speaker_count_hint: "99",
    "audio.codec": "x",
  };
  assert.deepEqual(issuesOf(await refuses(() => post({ fields }), 400, "INVALID_REQUEST")).toSorted(), expected);
});

test("request-body.unknown-field: a mistyped field gets the nearest name, the same in a form and in JSON", async () => {
  const words = "`langauge` is not a field of this endpoint. Did you mean `language`?";
  for (const answer of [
    await refuses(() => postJson(gateway.origin, { langauge: "de", audio: base64() }), 400, "INVALID_REQUEST"),
    await refuses(() => post({ fields: { langauge: "de" } }), 400, "INVALID_REQUEST"),
  ]) {
    const issues = detailsOf(answer)["issues"] as readonly { readonly message: string }[];
    assert.deepEqual(
      issues.map(({ message }) => message),
      [words],
    );
  }
});

test("request-body.unknown-field: a field under a provider's name for it gets the name here, the same in a form and in JSON, and is not taken", async () => {
  const names = [
    ["diarize", "diarization"],
    ["timestamp_granularities", "timestamps"],
    ["smart_format", "smart_formatting"],
  ] as const;
  const sent = Object.fromEntries(names.map(([theirs]) => [theirs, "true"]));
  const expected = names.map(
    ([theirs, ours]) => `\`${theirs}\` is not a field of this endpoint. Did you mean \`${ours}\`?`,
  );
  for (const answer of [
    await refuses(() => postJson(gateway.origin, { ...sent, audio: base64() }), 400, "INVALID_REQUEST"),
    await refuses(() => post({ fields: sent }), 400, "INVALID_REQUEST"),
  ]) {
    const issues = detailsOf(answer)["issues"] as readonly { readonly message: string }[];
    assert.deepEqual(
      issues.map(({ message }) => message),
      expected,
    );
  }
  // What is no field of an endpoint is never suggested there.
  const [issue] = detailsOf(await refuses(() => post({ fields: { stop_sequences: "x" } }), 400, "INVALID_REQUEST"))[
    "issues"
  ] as readonly { readonly message: string }[];
  assert.equal(issue?.message, "`stop_sequences` is not a field of this endpoint.");
});

test("transcription.scope, keys.scopes: a key without the scope transcribe is 403 and names it; the body is not judged", async () => {
  const answer = await refuses(() => post({ key: CHAT_KEY, fields: { model: "x" } }), 403, "FORBIDDEN");
  assert.deepEqual(detailsOf(answer), { required: ["transcribe"] });
});

test("transcription.scope: keys of administrators and operators belong to no app and cannot transcribe: 403", async () => {
  for (const key of [ADMIN_KEY, OPERATOR_KEY]) {
    const answer = await refuses(() => post({ key }), 403, "FORBIDDEN");
    assert.ok(Array.isArray(detailsOf(answer)["required"]));
  }
});

test("transcription.accept-first, captions.not-acceptable: an Accept that nothing can satisfy is 406, before the body is judged", async () => {
  for (const accept of ["image/png", "application/xml, text/html", "application/json;q=0"]) {
    const answer = await refuses(() => post({ headers: { accept }, fields: { model: "x" } }), 406, "NOT_ACCEPTABLE");
    assert.equal(paramOf(answer), "accept");
  }
  for (const [accept, response_format] of [
    ["text/vtt", "srt"],
    ["application/x-subrip", "text"],
  ] as const) {
    await refuses(() => post({ headers: { accept }, fields: { response_format } }), 406, "NOT_ACCEPTABLE");
  }
});

test("measuring.too-long, request-body.max-audio-bytes: audio longer or larger than the published limits is refused, with the limit in details", async () => {
  const long = await refuses(() => post({ file: wav(61) }), 422, "AUDIO_TOO_LONG");
  assert.deepEqual(detailsOf(long), { max_audio_duration_seconds: 60, audio_seconds: 61 });
  const large = await refuses(() => post({ file: new Uint8Array(1_000_001) }), 413, "AUDIO_TOO_LARGE");
  assert.equal(detailsOf(large)["max_audio_bytes"], 1_000_000);
});

test("captions.problem-json, errors.problem-json: Accept application/problem+json gives the RFC 9457 form of any error, and JSON of a success", async () => {
  for (const [fields, status, code] of [
    [{ model: "x" }, 400, "ROUTE_CONTROL_FIELD_REJECTED"],
    [{ stream: "true", redaction: "pii" }, 422, "REQUIRED_FEATURE_UNSUPPORTED"],
    [{ nonsense: "x" }, 400, "INVALID_REQUEST"],
  ] as const) {
    const form = new FormData();
    for (const [name, value] of Object.entries(fields)) form.append(name, value);
    form.append("file", new Blob([new Uint8Array(speech())]), "canary-file-name.wav");
    const response = await fetch(`${gateway.origin}/v1/transcription`, {
      method: "POST",
      headers: { authorization: `Bearer ${KEY}`, accept: "application/problem+json" },
      body: form,
    });
    const text = await response.text();
    const problem = problemBody.parse(JSON.parse(text));
    assert.deepEqual([response.status, problem.status, problem.code], [status, status, code]);
    assert.match(response.headers.get("content-type") ?? "", /^application\/problem\+json/);
    assert.equal(problem.request_id, response.headers.get("x-request-id"));
    assert.equal(String(problem.retryable), response.headers.get("x-should-retry"));
    assert.equal(problem.type, `${gateway.configuration.server.publicUrl}/docs/errors#${code}`);
    assertNoCanary("the problem", text);
    const { error } = (await refuses(() => post({ fields }), status, code)).json as { error: Record<string, unknown> };
    assert.deepEqual(
      [problem.detail, problem.error_type, problem.param, problem.details],
      [error["message"], error["type"], error["param"], error["details"]],
    );
  }
  envelopeOf(await post({ headers: { accept: "application/problem+json" } }));
});

test("errors.retryable-views: a used-up quota is retryable in all three views", async () => {
  assert.equal((await post({ key: BUSY_KEY })).status, 200);
  const answer = await refuses(() => post({ key: BUSY_KEY }), 429, "RATE_LIMITED");
  assertRetryable(answer, true);
  assert.ok(Number(answer.headers.get("retry-after")) >= 1);
});

function assertRetryable(answer: Answer, retryable: boolean): void {
  const { error } = answer.json as { error: { retryable: boolean } };
  assert.deepEqual(
    [error.retryable, answer.headers.get("x-should-retry"), answer.headers.has("retry-after")],
    [retryable, String(retryable), retryable],
  );
}

test("transcription.no-echo: nothing that a caller or a provider sent is repeated in an error or in the log", async () => {
  const caller = {
    fields: { prompt: "canary-prompt", keyterms: "canary-keyterm" },
    headers: { "idempotency-key": "canary-idempotency" },
  };
  await refuses(() => post({ ...caller, file: new Uint8Array(5_000) }), 415, "UNSUPPORTED_MEDIA_TYPE");
  await refuses(() => post({ ...caller, file: wav(0.01) }), 422, "INVALID_AUDIO");
  const body = JSON.stringify({ err_msg: "canary-provider-body", error: { message: "canary-provider-body" } });
  for (const [status, expected, code, retryable] of [
    [400, 502, "PROVIDER_REJECTED", false],
    [504, 502, "PROVIDER_RESULT_UNKNOWN", false],
    [500, 503, "NO_HEALTHY_PROVIDER", true],
  ] as const) {
    gateway.sandbox.clearFaults();
    gateway.sandbox.addFault({ fault: { kind: "status", status, body } });
    const before = gateway.sandbox.callCount;
    const answer = await post({ fields: { prompt: "canary-prompt" } });
    assert.ok(gateway.sandbox.callCount > before, "the providers answered");
    assertRefusal(answer, expected, code);
    assertRetryable(answer, retryable);
    const { error } = answer.json as { error: { request_id: string } };
    const lines = gateway.logs.filter((line) => line.includes(error.request_id));
    assert.ok(lines.length > 0, "the log that holds no canary holds the request");
  }
});
