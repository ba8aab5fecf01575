// The sandbox as Deepgram: what it refuses and what it answers.
import assert from "node:assert/strict";
import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { after, before, beforeEach, test } from "node:test";
import { WebSocket } from "ws";
import { type Sandbox, startSandbox } from "../../sandbox/server.ts";
import { at, list, listen } from "./ask.ts";
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

const words = (count: number): string => Array.from({ length: count }, (_, index) => `keyterm=w${index}`).join("&");

const REFUSED: readonly (readonly [why: string, query: string, code: string, message: RegExp])[] = [
  [
    "an unknown parameter, which the provider may ignore, cannot hide",
    "model=nova-3&diarise=true",
    "INVALID_QUERY_PARAMETER",
    /diarise/,
  ],
  ["keywords are not for nova-3", "model=nova-3&keywords=a:2", "INVALID_QUERY_PARAMETER", /use `keyterm` instead/],
  ["keyterm is only for nova-3", "model=nova-2&keyterm=a", "INVALID_QUERY_PARAMETER", /only supported for Nova-3/],
  [
    "at most 500 keyterm tokens",
    `model=nova-3&${words(501)}`,
    "INVALID_QUERY_PARAMETER",
    /^Keyterm limit exceeded\. The maximum number of tokens across all keyterms is 500\.$/,
  ],
  ["diarize_model has three values", "model=nova-3&diarize_model=v3", "INVALID_QUERY_PARAMETER", /latest, v1 or v2/],
  ["a boolean is true or false", "model=nova-3&utterances=1", "INVALID_QUERY_PARAMETER", /utterances/],
  [
    "a boolean is given once",
    "model=nova-3&utterances=true&utterances=true",
    "INVALID_QUERY_PARAMETER",
    /more than once/,
  ],
  ["redact ordinal is refused", "model=nova-3&redact=ordinal", "INVALID_QUERY_PARAMETER", /redact/],
  [
    "redact lists repeat the key and are never joined by commas",
    "model=nova-3&redact=pci,ssn",
    "INVALID_QUERY_PARAMETER",
    /repeat/,
  ],
  ["entity redaction is for English", "model=nova-3&language=de&redact=pii", "INVALID_QUERY_PARAMETER", /English/],
  [
    "entity redaction needs a known language",
    "model=nova-3&detect_language=true&redact=pii",
    "INVALID_QUERY_PARAMETER",
    /English/,
  ],
  [
    "detect_language is a boolean or codes, not both",
    "model=nova-3&detect_language=true&detect_language=de",
    "INVALID_QUERY_PARAMETER",
    /detect_language/,
  ],
  ["a language is a BCP-47 tag", "model=nova-3&language=english", "INVALID_QUERY_PARAMETER", /BCP-47/],
  [
    "nova-3-medical knows English and multi",
    "model=nova-3-medical&language=de",
    "INVALID_QUERY_PARAMETER",
    /combination/,
  ],
  [
    "callbacks are not simulated and say so",
    "model=nova-3&callback=http://127.0.0.1/",
    "INVALID_QUERY_PARAMETER",
    /does not simulate/,
  ],
  ["an unknown model", "model=nova-9", "Bad Request", /No such model/],
];
for (const [why, query, code, message] of REFUSED) {
  test(`providers.sandbox-refusals: deepgram, ${why}: 400 ${code}`, async () => {
    const answer = await listen(sandbox.deepgramUrl, query);
    assert.equal(answer.status, 400);
    assert.equal(answer.json?.["err_code"], code);
    assert.match(String(answer.json?.["err_msg"]), message);
    assert.equal(answer.json?.["request_id"], answer.headers.get("dg-request-id"));
  });
}

for (const query of [
  "redact=numbers&language=de",
  "redact=true&redact=aggressive_numbers",
  "detect_language=de&detect_language=fr",
  "keyterm=a%20b&keyterm=c",
  words(500),
  "diarize_model=v2&utt_split=1.5",
  "language=multi",
]) {
  test(`providers.sandbox-refusals: deepgram, accepted: ${query.slice(0, 60)}`, async () => {
    assert.equal((await listen(sandbox.deepgramUrl, `model=nova-3&${query}`)).status, 200);
  });
}

for (const authorization of ["", "Token", "Token invalid", "Bearer dg-wire", "dg-wire"]) {
  test(`providers.sandbox-refusals: deepgram, credential "${authorization}": 401 INVALID_AUTH`, async () => {
    const answer = await listen(sandbox.deepgramUrl, "model=nova-3", wav(1), { authorization });
    assert.equal(answer.status, 401);
    assert.equal(answer.json?.["err_code"], "INVALID_AUTH");
  });
}

test("providers.sandbox-refusals: deepgram, bytes that are no audio: 400 corrupt or unsupported data", async () => {
  const answer = await listen(sandbox.deepgramUrl, "model=nova-3", "these are no samples");
  assert.equal(answer.status, 400);
  assert.match(String(answer.json?.["err_msg"]), /corrupt or unsupported data/);
});

test("providers.sandbox-refusals: deepgram, a URL source is refused: the sandbox fetches nothing", async () => {
  const answer = await listen(sandbox.deepgramUrl, "model=nova-3", '{"url":"http://127.0.0.1:9/a.wav"}', {
    "content-type": "application/json",
  });
  assert.equal(answer.json?.["err_code"], "REMOTE_CONTENT_ERROR");
});

test("providers.sandbox-answers: deepgram, one second of stereo: the text has the measured facts, word times cover the length evenly", async () => {
  const { json } = await listen(sandbox.deepgramUrl, "model=nova-3", wav(12.34, 2));
  assert.equal(
    at(json, "results", "channels", 0, "alternatives", 0, "transcript"),
    "[simulated transcript, 12.3 s, stereo]",
  );
  const heard = list(at(json, "results", "channels", 0, "alternatives", 0, "words"));
  assert.deepEqual(
    heard.map((word) => at(word, "start")),
    [0, 2.468, 4.936, 7.404, 9.872],
  );
  assert.equal(at(heard.at(-1), "end"), 12.34);
  assert.equal(at(heard[0], "speaker"), undefined, "no speaker unless asked");
});

test("providers.sandbox-answers: deepgram, more than two channels are counted in the text", async () => {
  const { json } = await listen(sandbox.deepgramUrl, "model=nova-3", wav(1, 6));
  assert.equal(
    at(json, "results", "channels", 0, "alternatives", 0, "transcript"),
    "[simulated transcript, 1.0 s, 6 channels]",
  );
});

test("providers.sandbox-answers: deepgram, multichannel with utterances: every channel has its own, in order of start and channel", async () => {
  const { json } = await listen(
    sandbox.deepgramUrl,
    "model=nova-3&multichannel=true&utterances=true&diarize_model=v2",
    wav(4, 2),
  );
  assert.deepEqual(
    list(at(json, "results", "utterances")).map((each) => [at(each, "channel"), at(each, "speaker")]),
    [
      [0, 0],
      [1, 0],
      [0, 1],
      [1, 1],
    ],
  );
});

test("providers.sandbox-answers: deepgram, language=multi: languages per alternative and per word", async () => {
  const { json } = await listen(sandbox.deepgramUrl, "model=nova-3&language=multi");
  assert.deepEqual(at(json, "results", "channels", 0, "alternatives", 0, "languages"), ["en"]);
  assert.equal(at(json, "results", "channels", 0, "alternatives", 0, "words", 0, "language"), "en");
});

test("providers.sandbox-answers: deepgram, model_info names the model used", async () => {
  for (const [model, name, arch] of [
    ["nova-3", "general-nova-3", "nova-3"],
    ["nova-3-medical", "medical-nova-3", "nova-3"],
    ["nova-2-meeting", "meeting-nova-2", "nova-2"],
  ]) {
    const { json } = await listen(sandbox.deepgramUrl, `model=${model}`);
    const [info] = Object.values(at(json, "metadata", "model_info") ?? {});
    assert.deepEqual([at(info, "name"), at(info, "arch")], [name, arch]);
  }
});

test("providers.sandbox-answers: simulated-speech is a nova-3 without language conditions", async () => {
  assert.equal(
    (await listen(sandbox.deepgramUrl, "model=simulated-speech&language=de&redact=pii&keyterm=a&diarize_model=latest"))
      .status,
    200,
  );
});

test("providers.sandbox-bodies: deepgram, metadata.sha256 is the hash of the bytes received, also when they went through a file", async () => {
  const audio = wav(200);
  assert.ok(audio.length > 1_048_576);
  const { json } = await listen(sandbox.deepgramUrl, "model=nova-3", audio);
  assert.equal(at(json, "metadata", "sha256"), sandbox.calls[0]?.file?.sha256);
  assert.equal(at(json, "metadata", "duration"), 200);
});

test("providers.sandbox-bodies: deepgram, a socket whose handshake is refused leaves nothing behind for the next one", async () => {
  const path = `${sandbox.deepgramUrl}/v1/listen?model=nova-3&encoding=linear16&sample_rate=16000`;
  const authorization = "Token dg-wire";
  const headers = { authorization, connection: "Upgrade", upgrade: "websocket", "sec-websocket-version": "13" };
  // Without the key of a handshake.
  const [refused] = (await once(request(path, { headers }).end(), "response")) as [IncomingMessage];
  refused.resume();
  assert.equal(refused.statusCode, 400);
  const socket = new WebSocket(path.replace("http", "ws"), { headers: { authorization } });
  const [[{ rawHeaders }]] = await Promise.all([
    once(socket, "upgrade") as Promise<[IncomingMessage]>,
    once(socket, "open"),
  ]);
  assert.equal(rawHeaders.filter((name) => name.toLowerCase() === "dg-request-id").length, 1);
  socket.terminate();
});
