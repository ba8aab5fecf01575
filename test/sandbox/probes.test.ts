// What tries a credential, as each provider answers it: who is let in, what is listed page by page, and the levers.
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { type Sandbox, startSandbox } from "../../sandbox/server.ts";
import { at, list } from "./ask.ts";
import { wav } from "./wav.ts";

let sandbox: Sandbox;
before(async () => {
  sandbox = await startSandbox();
});
after(() => sandbox.close());
beforeEach(() => {
  sandbox.clearFaults();
  sandbox.clearCalls();
});

interface Place {
  readonly url: string;
  readonly header: string;
  readonly scheme?: string;
  readonly more?: Readonly<Record<string, string>>;
}

const places = (): Readonly<Record<string, Place>> => ({
  openai: { url: `${sandbox.openaiUrl}/models`, header: "authorization", scheme: "Bearer " },
  groq: { url: `${sandbox.compatibleUrl("groq")}/models`, header: "authorization", scheme: "Bearer " },
  mistral: { url: `${sandbox.compatibleUrl("mistral")}/models`, header: "authorization", scheme: "Bearer " },
  deepgram: { url: `${sandbox.deepgramUrl}/v1/auth/token`, header: "authorization", scheme: "Token " },
  assemblyai: { url: `${sandbox.assemblyaiUrl}/v2/transcript?limit=1`, header: "authorization" },
  elevenlabs: { url: `${sandbox.elevenlabsUrl}/v1/models`, header: "xi-api-key" },
  anthropic: {
    url: `${sandbox.anthropicUrl}/v1/models`,
    header: "x-api-key",
    more: { "anthropic-version": "2023-06-01" },
  },
  gemini: { url: `${sandbox.geminiUrl}/v1beta/models`, header: "x-goog-api-key" },
  "google-speech": {
    url: `${sandbox.googleSpeechUrl}/v2/projects/p/locations/us`,
    header: "authorization",
    scheme: "Bearer ",
  },
});

async function ask(
  { url, header, scheme = "", more = {} }: Place,
  key: string | null,
): Promise<{ readonly status: number; readonly json: unknown }> {
  const response = await fetch(url, { headers: { ...more, ...(key === null ? {} : { [header]: `${scheme}${key}` }) } });
  return { status: response.status, json: await response.json() };
}

test("providers.sandbox-probes: a key is accepted; a wrong one and none are refused as that provider refuses", async () => {
  const refused: Readonly<Record<string, readonly [wrong: number, none: number, code: string | undefined]>> = {
    openai: [401, 401, "invalid_api_key"],
    groq: [401, 401, "invalid_api_key"],
    mistral: [401, 401, undefined],
    deepgram: [401, 401, "INVALID_AUTH"],
    assemblyai: [401, 401, undefined],
    elevenlabs: [401, 401, "invalid_api_key"],
    anthropic: [401, 401, "authentication_error"],
    gemini: [400, 403, "INVALID_ARGUMENT"],
    "google-speech": [401, 401, "UNAUTHENTICATED"],
  };
  for (const [name, place] of Object.entries(places())) {
    const wrong = await ask(place, "invalid");
    const code = at(wrong.json, "error", "code") ?? at(wrong.json, "err_code") ?? at(wrong.json, "detail", "status");
    const word =
      typeof code === "string" ? code : (at(wrong.json, "error", "status") ?? at(wrong.json, "error", "type"));
    assert.deepEqual(
      [(await ask(place, "a-key")).status, wrong.status, (await ask(place, null)).status, word],
      [200, ...(refused[name] ?? [])],
    );
  }
});

test("providers.sandbox-probes, providers.sandbox-faults: faults that name the step apply, in the provider's own words, and paid calls are not affected", async () => {
  for (const place of Object.values(places())) {
    sandbox.addFault({ times: 1, fault: { kind: "status", status: 500 } });
    assert.equal((await ask(place, "a-key")).status, 200, "a rule without a step is for what is paid for");
    sandbox.clearFaults();
    sandbox.addFault({ step: "probe", times: 1, fault: { kind: "status", status: 429 } });
    assert.deepEqual([(await ask(place, "a-key")).status, (await ask(place, "a-key")).status], [429, 200]);
    sandbox.addFault({ step: "probe", times: 1, fault: { kind: "garbage" } });
    await assert.rejects(ask(place, "a-key"), SyntaxError);
  }
  assert.doesNotMatch(JSON.stringify(sandbox.calls), /a-key/u, "the credential stands in no record of a call");
});

test("providers.sandbox-probes: compatible servers answer without a key; whisper.cpp has no list", async () => {
  for (const dialect of ["openai", "speaches", "vllm"] as const) {
    const place = { url: `${sandbox.compatibleUrl(dialect)}/models`, header: "authorization", scheme: "Bearer " };
    assert.deepEqual([(await ask(place, null)).status, (await ask(place, "invalid")).status], [200, 401], dialect);
  }
  const base = `${sandbox.origin}/compatible/whisper-cpp`;
  const none = await fetch(`${base}/v1/models`);
  assert.deepEqual(
    [none.status, none.headers.get("server"), await none.text()],
    [404, "whisper.cpp", "File Not Found (/v1/models)"],
  );
});

test("providers.sandbox-probes: whisper.cpp answers OPTIONS at the path where it accepts audio, and there alone, as it was started", async () => {
  for (const [start, path, other] of [
    ["whisper-cpp", "/v1/audio/transcriptions", "/inference"],
    ["whisper-cpp-stock", "/inference", "/v1/audio/transcriptions"],
  ] as const) {
    const options = async (at: string) =>
      (await fetch(`${sandbox.origin}/compatible/${start}${at}`, { method: "OPTIONS" })).status;
    assert.deepEqual([await options(path), await options(other)], [200, 404]);
  }
});

test("providers.sandbox-probes: long lists come page by page", async () => {
  const { anthropic, gemini } = places();
  assert.ok(anthropic && gemini);
  const ids: unknown[] = [];
  let after = "";
  for (;;) {
    const { json } = await ask({ ...anthropic, url: `${anthropic.url}?limit=4${after}` }, "a-key");
    ids.push(...list(at(json, "data")).map((model) => at(model, "id")));
    if (at(json, "has_more") !== true) break;
    after = `&after_id=${String(at(json, "last_id"))}`;
  }
  const whole = await ask({ ...anthropic, url: `${anthropic.url}?limit=1000` }, "a-key");
  assert.deepEqual(
    ids,
    list(at(whole.json, "data")).map((model) => at(model, "id")),
  );
  assert.equal((await ask({ ...anthropic, url: `${anthropic.url}?limit=0` }, "a-key")).status, 400);

  const first = await ask({ ...gemini, url: `${gemini.url}?pageSize=3` }, "a-key");
  const next = String(at(first.json, "nextPageToken"));
  const second = await ask({ ...gemini, url: `${gemini.url}?pageSize=1000&pageToken=${next}` }, "a-key");
  assert.equal(list(at(first.json, "models")).length, 3);
  assert.equal(at(second.json, "nextPageToken"), undefined);
  assert.match(String(at(second.json, "models", 0, "name")), /^models\/gemini-/u);
});

test("providers.sandbox-probes: AssemblyAI lists a key's own transcripts, newest first, and no others", async () => {
  const call = async (path: string, key: string, body?: Buffer<ArrayBuffer> | string) =>
    (
      await fetch(`${sandbox.assemblyaiUrl}${path}`, {
        headers: { authorization: key },
        ...(body === undefined ? {} : { method: "POST", body }),
      })
    ).json() as Promise<Record<string, unknown>>;
  const ids: unknown[] = [];
  for (const seconds of [1, 2]) {
    const { upload_url: audioUrl } = await call("/v2/upload", "one", wav(seconds));
    const body = JSON.stringify({ audio_url: audioUrl, speech_models: ["universal-2"] });
    ids.unshift((await call("/v2/transcript", "one", body))["id"]);
  }
  const listed = await call("/v2/transcript", "one");
  assert.deepEqual(
    list(listed["transcripts"]).map((each) => [at(each, "id"), at(each, "status")]),
    [
      [ids[0], "completed"],
      [ids[1], "completed"],
    ],
  );
  assert.equal(at(await call("/v2/transcript?limit=1", "one"), "page_details", "result_count"), 1);
  assert.deepEqual((await call("/v2/transcript", "another"))["transcripts"], []);
});
