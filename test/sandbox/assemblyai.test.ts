// The sandbox as AssemblyAI: what it refuses, forgets and does wrong when a fault is set.
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { type Sandbox, startSandbox } from "../../sandbox/server.ts";
import { wav } from "./wav.ts";

let sandbox: Sandbox;
let nowMs = Date.parse("2026-11-26T12:00:00Z");
before(async () => {
  sandbox = await startSandbox({ nowMs: () => nowMs });
});
after(() => sandbox.close());
beforeEach(() => {
  sandbox.clearFaults();
  sandbox.clearCalls();
  nowMs = Date.parse("2026-11-26T12:00:00Z");
});

interface Answer {
  readonly status: number;
  readonly json: Record<string, unknown>;
}

async function call(
  method: string,
  path: string,
  body?: NonNullable<RequestInit["body"]>,
  key = "aa-wire",
): Promise<Answer> {
  const headers = key === "" ? {} : { authorization: key };
  const response = await fetch(`${sandbox.assemblyaiUrl}${path}`, { method, headers, body: body ?? null });
  const text = await response.text();
  const json = response.headers.get("content-type") === "application/json" ? JSON.parse(text) : {};
  return { status: response.status, json: json as Record<string, unknown> };
}

async function submit(options: object, audio: Buffer<ArrayBuffer> = wav(2.5, 2)): Promise<Answer> {
  const { json } = await call("POST", "/v2/upload", audio);
  const body = { audio_url: json["upload_url"], speech_models: ["universal-3-5-pro"], ...options };
  return call("POST", "/v2/transcript", JSON.stringify(body));
}

async function run(options: object): Promise<Record<string, unknown>> {
  const { status, json } = await submit(options);
  assert.equal(status, 200, JSON.stringify(json));
  return (await call("GET", `/v2/transcript/${String(json["id"])}`)).json;
}

const words = (count: number): string => Array.from({ length: count }, () => "w").join(" ");
const terms = (count: number): string[] => Array.from({ length: count }, (_, index) => `t${index}`);

const REFUSED: readonly (readonly [why: string, options: object, error: RegExp])[] = [
  ["an unknown option cannot hide", { speaker_label: true }, /speaker_label/],
  ["the deprecated single model is no list", { speech_models: "universal-2" }, /speech_models/],
  ["an unknown model", { speech_models: ["universal-9"] }, /speech_models/],
  ["a language and its detection", { language_code: "en", language_detection: true }, /together/],
  ["terms and prompt", { keyterms_prompt: ["a"], prompt: "b" }, /together/],
  [
    "a temperature for universal-2",
    { speech_models: ["universal-2"], temperature: 0.2 },
    /not supported by this model/,
  ],
  ["a temperature above 1", { temperature: 1.5 }, /temperature/],
  ["201 terms for assemblyai-stt-3-7", { speech_models: ["assemblyai-stt-3-7"], keyterms_prompt: terms(201) }, /200/],
  ["a prompt for universal-2", { speech_models: ["universal-2"], prompt: "b" }, /prompt is not supported/],
  ["a prompt of 1,501 words", { prompt: words(1501) }, /1500 words/],
  ["1,001 terms", { keyterms_prompt: terms(1001) }, /at most 1000 terms/],
  ["201 terms for universal-2", { speech_models: ["universal-2"], keyterms_prompt: terms(201) }, /at most 200/],
  ["a term of seven words", { keyterms_prompt: [words(7)] }, /at most 6 words/],
  ["redaction without policies", { redact_pii: true }, /at least one policy/],
  ["an unknown policy", { redact_pii: true, redact_pii_policies: ["pii"] }, /redact_pii_policies/],
  ["policies without redaction", { redact_pii_policies: ["person_name"] }, /needs redact_pii/],
  [
    "redaction of unformatted text",
    { redact_pii: true, redact_pii_policies: ["person_name"], format_text: false },
    /needs format_text/,
  ],
  ["a bound on speakers without labels", { speaker_options: { max_speakers_expected: 2 } }, /needs speaker_labels/],
  ["a language the model lacks", { language_code: "ja" }, /not available in this language: universal-3-5-pro/],
  [
    "a feature the language lacks",
    { speech_models: ["universal-2"], language_code: "sw", filter_profanity: true },
    /not available in this language: filter_profanity/,
  ],
];
for (const [why, options, error] of REFUSED) {
  test(`providers.sandbox-refusals: assemblyai, ${why}: 400`, async () => {
    const answer = await submit(options);
    assert.equal(answer.status, 400);
    assert.match(String(answer.json["error"]), error);
  });
}

test("providers.sandbox-retirement: assemblyai, universal-3-pro is refused in the provider's words from 2026-09-02 on, by the sandbox's clock", async () => {
  const retired = { speech_models: ["universal-3-pro"] };
  nowMs = Date.parse("2026-09-01T23:59:59Z");
  assert.equal((await submit(retired)).status, 200);
  nowMs = Date.parse("2026-09-02T00:00:00Z");
  assert.deepEqual(await submit(retired), {
    status: 400,
    json: {
      error:
        'The "universal-3-pro" speech model(s) have been deprecated. Use speech_models: ["universal-3-5-pro", "universal-2"] instead.',
    },
  });
  assert.doesNotMatch(String((await submit({ speech_models: ["universal-9"] })).json["error"]), /universal-3-pro/);
});

for (const key of ["", "invalid", "Bearer aa-wire"]) {
  test(`providers.sandbox-refusals: assemblyai, the bare key is the credential, "${key}" is none: 401`, async () => {
    assert.equal((await call("POST", "/v2/upload", wav(1), key)).status, 401);
  });
}

test("providers.sandbox-refusals: assemblyai, a URL that was not uploaded here is refused: the sandbox fetches nothing", async () => {
  const body = { audio_url: "http://127.0.0.1:9/a.wav", speech_models: ["universal-2"] };
  const answer = await call("POST", "/v2/transcript", JSON.stringify(body));
  assert.deepEqual(
    [answer.status, answer.json["error"]],
    [400, "The sandbox fetches nothing: upload the audio first."],
  );
});

test("providers.sandbox-kept: assemblyai, a run is unfinished as often as configured, cannot be deleted before its end, and takes its audio along", async () => {
  sandbox.addFault({ wire: "assemblyai", fault: { kind: "unfinished", polls: 2 } });
  const { json } = await submit({});
  const path = `/v2/transcript/${String(json["id"])}`;
  assert.equal((await call("GET", path)).json["status"], "processing");
  assert.equal((await call("DELETE", path)).status, 400);
  assert.equal((await call("GET", path)).json["status"], "completed");
  assert.equal((await call("DELETE", path)).status, 200);
  assert.equal((await call("GET", path)).status, 400);
  assert.equal((await call("DELETE", path)).status, 400);
  const again = await call(
    "POST",
    "/v2/transcript",
    JSON.stringify({ audio_url: json["audio_url"], speech_models: ["universal-2"] }),
  );
  assert.equal(again.status, 400);
});

test("providers.sandbox-faults: assemblyai, a feature that is dropped in silence is neither done nor repeated", async () => {
  const options = {
    speaker_labels: true,
    redact_pii: true,
    redact_pii_policies: ["person_name"],
    keyterms_prompt: ["a"],
    filter_profanity: true,
  };
  const whole = await run(options);
  assert.deepEqual(
    [whole["redact_pii"], whole["keyterms_prompt"], whole["filter_profanity"], Array.isArray(whole["utterances"])],
    [true, ["a"], true, true],
  );
  for (const feature of ["diarization", "redaction", "keyterms", "profanity_filter"] as const) {
    sandbox.addFault({ wire: "assemblyai", fault: { kind: "drop", feature } });
  }
  const dropped = await run(options);
  assert.deepEqual(
    [dropped["redact_pii"], dropped["keyterms_prompt"], dropped["filter_profanity"], dropped["utterances"]],
    [false, null, false, null],
  );
});

test("providers.sandbox-faults: assemblyai, a rule concerns the step that it names, and the submission when it names none", async () => {
  sandbox.addFault({ wire: "assemblyai", fault: { kind: "status", status: 500 } });
  assert.equal((await call("POST", "/v2/upload", wav(1))).status, 200);
  assert.equal((await submit({})).status, 500);
  sandbox.clearFaults();
  for (const [step, method, path] of [
    ["upload", "POST", "/v2/upload"],
    ["poll", "GET", "/v2/transcript/x"],
    ["remove", "DELETE", "/v2/transcript/x"],
  ] as const) {
    sandbox.addFault({ wire: "assemblyai", step, times: 1, fault: { kind: "status", status: 503 } });
    assert.equal((await call(method, path, method === "POST" ? wav(1) : undefined)).status, 503);
  }
});

test("providers.sandbox-calls: assemblyai, the credential is in no record of a call", async () => {
  await call("POST", "/v2/upload", wav(1), "aa-secret-of-somebody");
  assert.doesNotMatch(JSON.stringify(sandbox.calls), /aa-secret/);
});
