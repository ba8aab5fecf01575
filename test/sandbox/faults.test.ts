// The levers: each fault does on the wire what it says, as often as it says, and to whom it says.
import assert from "node:assert/strict";
import { connect } from "node:net";
import { after, before, beforeEach, test } from "node:test";
import { type FaultRule, type Sandbox, startSandbox } from "../../sandbox/server.ts";
import { at, list, listen, transcribe } from "./ask.ts";
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

const whisper = (extra: readonly (readonly [string, string])[] = []) =>
  transcribe(sandbox.openaiUrl, [["model", "whisper-1"], ...extra]);
const nova = (query = "") => listen(sandbox.deepgramUrl, `model=nova-3${query}`);

test("providers.sandbox-faults: status: the provider's own body, Retry-After when given, as many times as configured", async () => {
  sandbox.addFault({ times: 2, fault: { kind: "status", status: 429, retryAfterSeconds: 7 } });
  const first = await nova();
  assert.deepEqual(
    [first.status, first.headers.get("retry-after"), first.json?.["err_code"]],
    [429, "7", "TOO_MANY_REQUESTS"],
  );
  const second = await whisper();
  assert.deepEqual([second.status, at(second.json, "error", "code")], [429, "rate_limit_exceeded"]);
  assert.equal((await nova()).status, 200);
});

test("providers.sandbox-faults: status: Deepgram's documented 503 spells error_code; a custom body replaces it", async () => {
  sandbox.addFault({ times: 1, fault: { kind: "status", status: 503 } });
  assert.equal((await nova()).json?.["error_code"], "SERVICE_UNAVAILABLE");
  sandbox.addFault({ times: 1, fault: { kind: "status", status: 500, body: "oops" } });
  assert.equal((await nova()).text, "oops");
});

test("providers.sandbox-faults: wire and model: a rule concerns only what it names", async () => {
  sandbox.addFault({ wire: "openai", model: "whisper-1", fault: { kind: "status", status: 500 } });
  assert.equal((await nova()).status, 200);
  assert.equal((await transcribe(sandbox.openaiUrl, [["model", "gpt-4o-transcribe"]])).status, 200);
  assert.equal((await transcribe(sandbox.compatibleUrl("openai"), [["model", "whisper-1"]])).status, 200);
  assert.equal((await whisper()).status, 500);
});

for (const kind of ["reset_before_body", "reset_after_body"] as const) {
  test(`providers.sandbox-faults: ${kind}: the connection breaks without an answer byte and the call is on record`, async () => {
    sandbox.addFault({ wire: "openai", model: "whisper-1", times: 1, fault: { kind } });
    sandbox.addFault({ wire: "deepgram", times: 1, fault: { kind } });
    await assert.rejects(whisper(), TypeError);
    await assert.rejects(nova(), TypeError);
    assert.deepEqual(
      sandbox.calls.map(({ outcome, aborted }) => [outcome, aborted]),
      [
        ["reset", false],
        ["reset", false],
      ],
    );
    assert.equal(sandbox.calls.at(-1)?.file === null, kind === "reset_before_body");
    assert.equal((await whisper()).status, 200);
  });
}

test("providers.sandbox-faults: reset_before_body: no byte of the body is waited for", async () => {
  sandbox.addFault({ fault: { kind: "reset_before_body" } });
  const { hostname, port } = new URL(sandbox.origin);
  const ended = await new Promise<string>((resolve) => {
    const socket = connect(Number(port), hostname, () =>
      socket.write("POST /deepgram/v1/listen?model=nova-3 HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n"),
    );
    socket.once("data", () => resolve("an answer"));
    socket.once("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? "error"));
    socket.once("close", () => resolve("closed"));
  });
  assert.equal(ended, "ECONNRESET");
});

test("providers.sandbox-faults: cut_reply: headers with the full length, then half of the JSON, then the end", async () => {
  sandbox.addFault({ times: 1, fault: { kind: "cut_reply" } });
  const response = await fetch(`${sandbox.deepgramUrl}/v1/listen?model=nova-3`, {
    method: "POST",
    body: wav(1),
    headers: { authorization: "Token k" },
  });
  assert.equal(response.status, 200);
  const declared = Number(response.headers.get("content-length"));
  let received = 0;
  await assert.rejects(async () => {
    for await (const chunk of response.body ?? []) received += chunk.length;
  });
  assert.equal(received, Math.floor(declared / 2));
  assert.deepEqual([sandbox.calls[0]?.outcome, sandbox.calls[0]?.aborted], [200, false]);
});

test("providers.sandbox-faults: cut_reply on a stream: ends before the done event", async () => {
  sandbox.addFault({ times: 1, fault: { kind: "cut_reply" } });
  await assert.rejects(
    transcribe(sandbox.openaiUrl, [
      ["model", "gpt-4o-transcribe"],
      ["stream", "true"],
    ]),
    TypeError,
  );
});

test("providers.sandbox-faults: stall: everything is read, nothing answered; the caller's hanging up is seen", async () => {
  sandbox.addFault({ fault: { kind: "stall" } });
  const caller = new AbortController();
  const pending = transcribe(sandbox.openaiUrl, [["model", "whisper-1"]], { signal: caller.signal });
  const stalled = await sandbox.waitForCall(({ outcome }) => outcome === "stalled");
  assert.deepEqual([stalled.aborted, stalled.file?.sizeBytes], [false, wav(2.5).length]);
  caller.abort();
  await assert.rejects(pending, { name: "AbortError" });
  await sandbox.waitForCall(({ aborted }) => aborted);
});

test("providers.sandbox-faults: stall: close() releases the caller", async () => {
  const own = await startSandbox();
  own.addFault({ fault: { kind: "stall" } });
  const pending = assert.rejects(listen(own.deepgramUrl, "model=nova-3"), TypeError);
  await own.waitForCall(({ outcome }) => outcome === "stalled");
  await own.close();
  await pending;
  assert.equal(own.calls[0]?.aborted, false, "the caller did not hang up");
});

test("providers.sandbox-faults: delay: the answer is the right one, not before its time, and a caller may hang up meanwhile", async () => {
  sandbox.addFault({ times: 1, fault: { kind: "delay", ms: 60 } });
  const before = performance.now();
  assert.equal((await nova()).status, 200);
  assert.ok(performance.now() - before >= 59);
  sandbox.addFault({ fault: { kind: "delay", ms: 600_000 } });
  const caller = new AbortController();
  const pending = transcribe(sandbox.openaiUrl, [["model", "whisper-1"]], { signal: caller.signal });
  await sandbox.waitForCall(({ wire, file }) => wire === "openai" && file !== null);
  caller.abort();
  await assert.rejects(pending, { name: "AbortError" });
  assert.equal((await sandbox.waitForCall(({ aborted }) => aborted)).outcome, "pending");
});

test("providers.sandbox-faults: garbage: 200 with HTML", async () => {
  sandbox.addFault({ fault: { kind: "garbage" } });
  const answer = await nova();
  assert.deepEqual(
    [answer.status, answer.json, answer.headers.get("content-type")],
    [200, null, "text/html; charset=utf-8"],
  );
});

test("providers.sandbox-faults: error_body: 200 with the provider's error JSON", async () => {
  sandbox.addFault({ fault: { kind: "error_body" } });
  const deepgram = await nova();
  assert.deepEqual(
    [deepgram.status, typeof deepgram.json?.["err_code"], deepgram.json?.["results"]],
    [200, "string", undefined],
  );
  const openai = await whisper();
  assert.deepEqual([openai.status, at(openai.json, "error", "type")], [200, "server_error"]);
});

test("providers.sandbox-faults: empty: 200 with an empty text and no words", async () => {
  sandbox.addFault({ fault: { kind: "empty" } });
  const { json } = await nova("&utterances=true&diarize_model=latest");
  assert.deepEqual(at(json, "results", "channels", 0, "alternatives", 0, "words"), []);
  assert.deepEqual(
    [at(json, "results", "channels", 0, "alternatives", 0, "transcript"), at(json, "results", "utterances")],
    ["", []],
  );
  assert.equal((await whisper()).json?.["text"], "");
});

const drop = (feature: Extract<FaultRule["fault"], { kind: "drop" }>["feature"]): void =>
  sandbox.addFault({ fault: { kind: "drop", feature } });

test("providers.sandbox-faults: drop diarization: no speaker anywhere, as if it had not been asked", async () => {
  drop("diarization");
  const { json, text } = await nova("&utterances=true&diarize_model=latest");
  assert.doesNotMatch(text, /speaker/);
  assert.equal(list(at(json, "results", "utterances")).length, 1);
  const openai = await transcribe(sandbox.openaiUrl, [
    ["model", "gpt-4o-transcribe-diarize"],
    ["chunking_strategy", "auto"],
    ["response_format", "diarized_json"],
  ]);
  assert.equal(at(openai.json, "segments", 0, "speaker"), undefined);
});

test("providers.sandbox-faults: drop timestamps.word and timestamps.segment: text without times", async () => {
  drop("timestamps.word");
  drop("timestamps.segment");
  const { json } = await nova("&utterances=true");
  assert.notEqual(at(json, "results", "channels", 0, "alternatives", 0, "transcript"), "");
  assert.deepEqual(
    [at(json, "results", "channels", 0, "alternatives", 0, "words"), at(json, "results", "utterances")],
    [[], undefined],
  );
  const openai = await whisper([
    ["response_format", "verbose_json"],
    ["timestamp_granularities[]", "word"],
    ["timestamp_granularities[]", "segment"],
  ]);
  assert.deepEqual([openai.json?.["words"], openai.json?.["segments"]], [undefined, undefined]);
});

test("providers.sandbox-faults: drop multichannel, language and model: the answer of a provider that did something else", async () => {
  drop("multichannel");
  drop("language");
  drop("model");
  const { json } = await listen(sandbox.deepgramUrl, "model=nova-3&multichannel=true&detect_language=true", wav(2, 2));
  assert.equal(list(at(json, "results", "channels")).length, 1);
  assert.equal(at(json, "results", "channels", 0, "detected_language"), undefined);
  assert.deepEqual(
    Object.values(at(json, "metadata", "model_info") ?? {}).map((info) => at(info, "arch")),
    ["nova-2"],
  );
  assert.equal((await whisper([["response_format", "verbose_json"]])).json?.["language"], undefined);
});

for (const seconds of [9999, -1, "NaN"] as const) {
  test(`providers.sandbox-faults: duration ${seconds}: the provider's own figure is wrong, everything else is right`, async () => {
    sandbox.addFault({ fault: { kind: "duration", seconds } });
    assert.equal(at((await nova()).json, "metadata", "duration"), seconds);
    const openai = await whisper([["response_format", "verbose_json"]]);
    assert.deepEqual(
      [openai.json?.["duration"], openai.json?.["text"]],
      [seconds, "[simulated transcript, 2.5 s, mono]"],
    );
  });
}

test("providers.sandbox-faults: a rule that makes no sense is refused when it is added", () => {
  assert.throws(() => sandbox.addFault({ times: 0, fault: { kind: "stall" } }));
  assert.throws(() => sandbox.addFault({ fault: { kind: "status", status: 42 } }));
});
