// /v1/audio/transcriptions and /v1/audio/translations as clients of OpenAI use them: the extra fields that they send, how their forms
// spell them, and the words that they expect of the answer.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Sandbox } from "../../../sandbox/server.ts";
import type { ConfigurationFile } from "../../../src/config/schema/file.ts";
import type { TranscriptionEnvelope } from "../../../src/contract/transcription/transcription-envelope.ts";
import { toAudioAnswer } from "../../../src/http/compatible/audio-transcription.ts";
import { HELLO, postChat } from "../../harness/chat-client.ts";
import { type Answer, detailsOf, postForm, type TranscriptionCall } from "../../harness/client.ts";
import { configurationWith } from "../../harness/configuration.ts";
import { KEY } from "../../harness/gateway.ts";
import { startQuietGateway } from "../../harness/quiet-gateway.ts";
import { streamForm } from "./stream/streamed.ts";

const file = (sandbox: Sandbox): ConfigurationFile =>
  configurationWith(sandbox, {
    scopes: ["transcribe", "chat"],
    routes: { speech: ["oa/whisper-1", "oa/gpt-4o-transcribe-diarize", "dg/nova-3"] },
    apps: { notes: { key: KEY } },
  });

const gateway = await startQuietGateway(file);
const TRANSCRIPTIONS = "/v1/audio/transcriptions";

const transcribe = (fields: TranscriptionCall["fields"] = {}, path = TRANSCRIPTIONS): Promise<Answer> =>
  postForm(gateway.origin, { path, fields: { model: "auto", ...fields } });

/** What of the form reached the model in addition to its audio. */
async function sent(fields: TranscriptionCall["fields"], path?: string): Promise<Readonly<Record<string, unknown>>> {
  const reply = await transcribe(fields, path);
  assert.equal(reply.status, 200, reply.text);
  const call = gateway.sandbox.calls.at(-1);
  gateway.sandbox.clearCalls();
  return Object.fromEntries([...(call?.query ?? []), ...(call?.fields ?? [])]);
}

function issuesOf(answer: Answer): readonly { readonly param: string; readonly message: string }[] {
  assert.deepEqual([answer.status, answer.code], [400, "INVALID_REQUEST"], answer.text);
  return detailsOf(answer)["issues"] as readonly { param: string; message: string }[];
}

const paramOf = ({ json }: Answer): unknown => (json as { readonly error: { readonly param: unknown } }).error.param;

test("compatible.empty-optional-field: an empty text of an optional field counts as not sent, as LiveKit's language is", async () => {
  const plain = await sent({});
  for (const name of ["language", "prompt", "temperature", "response_format", "stream", "chunking_strategy"])
    assert.deepEqual(await sent({ [name]: "" }), plain, name);
  assert.deepEqual(await sent({ prompt: "" }, "/v1/audio/translations"), await sent({}, "/v1/audio/translations"));
});

test("request-body.not-sent: an empty field of the native endpoints counts as not sent", async () => {
  const native = "/v1/transcription";
  const plain = await postForm(gateway.origin, { path: native, fields: {} });
  const sentPlain = gateway.sandbox.calls.at(-1);
  for (const name of ["language", "prompt", "response_format", "purpose", "timestamps"]) {
    const answer = await postForm(gateway.origin, { path: native, fields: { [name]: "" } });
    assert.deepEqual([answer.status, plain.status], [200, 200], answer.text);
    assert.deepEqual(gateway.sandbox.calls.at(-1)?.fields, sentPlain?.fields, name);
  }
  gateway.sandbox.clearCalls();
});

test("compatible.model-not-selectable: an empty model, or one of only spaces, is MODEL_NOT_SELECTABLE on every compatible endpoint", async () => {
  for (const model of ["", " "])
    for (const path of [TRANSCRIPTIONS, "/v1/audio/translations"]) {
      const answer = await transcribe({ model }, path);
      assert.deepEqual(
        [answer.status, answer.code, paramOf(answer)],
        [400, "MODEL_NOT_SELECTABLE", "model"],
        answer.text,
      );
    }
  for (const model of ["", " "]) {
    const answer = await postChat(gateway.origin, { model, messages: HELLO }, { path: "/v1/chat/completions" });
    assert.deepEqual(
      [answer.status, answer.code, paramOf(answer)],
      [400, "MODEL_NOT_SELECTABLE", "model"],
      answer.text,
    );
  }
  assert.equal(gateway.sandbox.callCount, 0);
});

const STRATEGIES: readonly Readonly<Record<string, string>>[] = [
  { chunking_strategy: "auto" },
  { chunking_strategy: '{"type":"server_vad","threshold":0.5}' },
  { "chunking_strategy[type]": "server_vad" },
  {
    "chunking_strategy[type]": "server_vad",
    "chunking_strategy[threshold]": "0.5",
    "chunking_strategy[prefix_padding_ms]": "300",
  },
];
for (const strategy of STRATEGIES) {
  test(`compatible.audio-fields, request-body.form-members: a chunking strategy is accepted and not used: ${JSON.stringify(strategy)}`, async () => {
    assert.deepEqual(await sent(strategy), await sent({}));
  });
}

const WRONG: readonly (readonly [Readonly<Record<string, string>>, string, RegExp])[] = [
  [{ "chunking_strategy[type]": "guess" }, "chunking_strategy.type", /server_vad/u],
  [{ "chunking_strategy[mood]": "good" }, "chunking_strategy[mood]", /not a field/u],
  [
    { "chunking_strategy[type]": "server_vad", "chunking_strategy[threshold]": "much" },
    "chunking_strategy[threshold]",
    /number/u,
  ],
  [{ "language[type]": "en" }, "language[type]", /not a field/u],
  [{ "chunking_strategy[__proto__]": "x" }, "chunking_strategy[__proto__]", /not a field/u],
  [
    { chunking_strategy: "auto", "chunking_strategy[type]": "server_vad" },
    "chunking_strategy[type]",
    /as a whole and as members/u,
  ],
  [{ chunking_strategy: "{" }, "chunking_strategy", /JSON/u],
];
for (const [fields, param, words] of WRONG) {
  test(`request-body.form-members: a member of a form field that is at fault is named: ${JSON.stringify(fields)}`, async () => {
    const issue = issuesOf(await transcribe(fields)).find((one) => one.param === param);
    assert.match(issue?.message ?? "", words);
    assert.equal(gateway.sandbox.callCount, 0);
  });
}

test("compatible.empty-optional-field: a number of a form has as many decimals as a client's arithmetic gives it", async () => {
  assert.deepEqual(await sent({ temperature: "0.30000000000000004" }), await sent({}));
  assert.equal(issuesOf(await transcribe({ temperature: "1.1" }))[0]?.param, "temperature");
});

test("compatible.audio-fields: keywords are the key terms, and a model that accepts them gets them", async () => {
  const asked = await sent({ "keywords[]": ["Patchbay", "Krakow"] });
  assert.equal(asked["keyterm"], "Krakow");
});

for (const format of ["srt", "vtt"]) {
  test(`compatible.audio-stream-formats: ${format} is made of the whole transcript: as a stream it is refused, and no provider is called`, async () => {
    const [issue] = issuesOf(await transcribe({ stream: "true", response_format: format }));
    assert.deepEqual([issue?.param, /cannot be streamed/u.test(issue?.message ?? "")], ["response_format", true]);
    assert.equal(gateway.sandbox.callCount, 0);
  });
}

for (const path of [TRANSCRIPTIONS, "/v1/transcription"]) {
  test(`transcription.stream-headers, compatible.routing-headers: a stream's headers report that a purpose was not applied and a preference dropped (${path})`, async () => {
    const fields =
      path === TRANSCRIPTIONS
        ? { model: "purpose/unheard", prompt: "Names: Ada." }
        : { purpose: "unheard", prompt: "Names: Ada." };
    const { headers } = await streamForm(gateway.origin, { path, fields });
    assert.deepEqual(
      ["requested-purpose", "applied-purpose", "purpose-source", "warnings"].map((name) =>
        headers.get(`x-svc-${name}`),
      ),
      ["unheard", null, "fallback", "PURPOSE_NOT_APPLIED, PREFERENCE_DROPPED"],
    );
  });
}

const envelope = (some: Partial<TranscriptionEnvelope>): TranscriptionEnvelope => ({
  id: "tr_1",
  object: "transcription",
  created_at: "2026-11-20T00:00:00.000Z",
  status: "completed",
  content: "Hello.",
  language: null,
  language_confidence: null,
  duration_seconds: 1,
  segments: [],
  words: [],
  warnings: [],
  usage: { audio_seconds: 1, billable_audio_seconds: 1, total_tokens: 0 },
  svc_requested_purpose: null,
  svc_applied_purpose: null,
  svc_purpose_source: "none",
  ...some,
});
const languageOf = (some: Partial<TranscriptionEnvelope>): unknown =>
  (toAudioAnswer(envelope(some), "verbose_json") as { readonly language?: unknown }).language;

test("compatible.audio-verbose: a language has the name that OpenAI's models give it, whatever its script and region", () => {
  const names = {
    en: "english",
    "en-US": "english",
    "pt-BR": "portuguese",
    "zh-Hans-CN": "chinese",
    "nb-NO": "norwegian",
    bn: "bengali",
    tl: "tagalog",
    my: "myanmar",
    mi: "maori",
    nn: "nynorsk",
    xq: "xq",
  };
  for (const [language, name] of Object.entries(names)) assert.equal(languageOf({ language }), name, language);
  assert.equal(languageOf({ language: null }), "");
});

test("compatible.audio-verbose: the language of a translation is that of its text", () => {
  for (const language of ["de", null]) assert.equal(languageOf({ object: "translation", language }), "english");
});
