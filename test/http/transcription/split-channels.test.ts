// `multichannel` where the model knows no channels: the gateway sends each by itself, and the answer is as of a model that does.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { after, before, beforeEach, test } from "node:test";
import type { ConfigurationFile } from "../../../src/config/schema/file.ts";
import { routingDecision } from "../../../src/contract/transcription/transcription-envelope.ts";
import { chunk, fmt, join, le16, riff } from "../../audio/build-audio.ts";
import { attemptRows } from "../../harness/attempts.ts";
import { detailsOf, envelopeOf, postForm } from "../../harness/client.ts";
import { startGateway, type TestGateway } from "../../harness/gateway.ts";
import { ended, submit } from "../jobs/jobs.ts";
import { keyOf, MODELS, openaiModels } from "./openai-models.ts";

const RATE = 8000;
/** Each channel a level of its own, so that every one is another file. */
const recording = (channels: readonly number[], seconds = 2): Uint8Array =>
  riff(
    fmt({ tag: 1, bits: 16, rate: RATE, channels: channels.length }),
    chunk("data", join(...Array.from({ length: seconds * RATE }, () => join(...channels.map(le16))))),
  );
const sha256 = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");
const STEREO = recording([100, 900]);

const PRICES: ConfigurationFile["prices"] = [
  { provider: "openai", model: "whisper-1", usd_per_audio_hour: "0.36", source: "a test", as_of: "2026-11-01" },
];

let gateway: TestGateway;
before(async () => {
  gateway = await startGateway({ file: (sandbox) => ({ ...openaiModels(sandbox), prices: PRICES }) });
});
after(() => gateway.close());
beforeEach(() => {
  gateway.sandbox.clearCalls();
  gateway.sandbox.clearFaults();
});

const ask = (app: string, file: Uint8Array, fields: Readonly<Record<string, string>> = {}) =>
  postForm(gateway.origin, { key: keyOf(app), file, fields: { multichannel: "true", ...fields } });
const sent = () => gateway.sandbox.calls.map(({ file }) => file?.sha256);

for (const app of MODELS)
  test(`transcription.channels-split: ${app} is sent each channel of a stereo recording by itself, and the answer names the channels`, async () => {
    const envelope = envelopeOf(await ask(app, STEREO));
    assert.deepEqual(sent(), [sha256(recording([100])), sha256(recording([900]))]);
    assert.deepEqual([...new Set(envelope.segments.map(({ channel }) => channel))], [0, 1]);
    for (const each of [0, 1]) {
      const own = envelope.segments.filter(({ channel }) => channel === each);
      assert.equal(own.map(({ text }) => text).join(" "), "[simulated transcript, 2.0 s, mono]");
    }
    assert.equal(envelope.duration_seconds, 2);
    const fields = JSON.stringify(gateway.sandbox.calls.map((call) => call.fields));
    assert.doesNotMatch(fields, /channel/u, "the provider is not asked");
  });

test("transcription.channels-split: words have the channel that they were spoken on, and texts keep the order of time, then channel", async () => {
  const words = (text: string, starts: readonly number[]) => ({
    text,
    duration: 2,
    segments: text
      .split(" ")
      .map((word, id) => ({ id, text: ` ${word}`, start: starts[id], end: (starts[id] ?? 0) + 0.4 })),
    words: text.split(" ").map((word, id) => ({ word, start: starts[id], end: (starts[id] ?? 0) + 0.4 })),
  });
  for (const body of [words("hello bye", [0, 1.5]), words("yes", [0.7])])
    gateway.sandbox.addFault({ times: 1, fault: { kind: "status", status: 200, body: JSON.stringify(body) } });
  const { content, words: heard } = envelopeOf(await ask("whisper-1", STEREO, { timestamps: "both" }));
  assert.deepEqual(
    heard.map(({ text, channel }) => [text, channel]),
    [
      ["hello", 0],
      ["yes", 1],
      ["bye", 0],
    ],
  );
  assert.equal(content, "hello yes bye");
});

test("transcription.channels-split: a recording of one channel is sent as it is, once, and is channel 0", async () => {
  const mono = recording([100]);
  const { segments } = envelopeOf(await ask("whisper-1", mono));
  assert.deepEqual(sent(), [sha256(mono)]);
  assert.deepEqual([...new Set(segments.map(({ channel }) => channel))], [0]);
});

test("transcription.channels-billed: each channel is paid for, and a dry run reports it", async () => {
  const answer = await ask("whisper-1", STEREO);
  const { usage } = envelopeOf(answer);
  assert.deepEqual([usage.audio_seconds, usage.billable_audio_seconds], [2, 4]);
  const [attempt] = await attemptRows(gateway, answer);
  // 4 s at 0.36 USD an hour.
  assert.equal(String(attempt?.charge_nano_usd), "400000");
  const dry = routingDecision.parse((await ask("whisper-1", STEREO, { dry_run: "true" })).json);
  assert.equal(dry.estimated_cost_usd, "0.0004");
  assert.equal(dry.candidates[0]?.split?.least_pieces, 2);
});

test("transcription.channels-billed: a channel that fails fails the whole: half of a conversation is never delivered as all of it", async () => {
  gateway.sandbox.addFault({ times: 1, fault: { kind: "status", status: 200, body: JSON.stringify({ text: "one" }) } });
  gateway.sandbox.addFault({ times: 1, fault: { kind: "status", status: 400 } });
  const answer = await ask("gpt-transcribe", STEREO);
  assert.deepEqual([answer.status, answer.code, sent().length], [502, "PROVIDER_REJECTED", 2]);
});

test("transcription.channels-split: a job splits channels as a request does", async () => {
  const call = { key: keyOf("gpt-transcribe"), file: STEREO, fields: { multichannel: "true" } };
  const { job_id: id } = await submit(gateway.origin, call);
  const job = await ended(gateway.origin, id, keyOf("gpt-transcribe"));
  assert.equal(job.status, "succeeded", JSON.stringify(job));
  assert.deepEqual(sent(), [sha256(recording([100])), sha256(recording([900]))]);
});

test("transcription.channels-refused: more than eight channels are refused before any call, and so is a stream", async () => {
  const many = await ask(
    "whisper-1",
    recording(
      Array.from({ length: 9 }, (_, index) => index),
      1,
    ),
  );
  assert.deepEqual([many.status, detailsOf(many)["missing"]], [422, ["channels"]]);
  const streamed = await ask("gpt-4o-transcribe", STEREO, { stream: "true" });
  assert.deepEqual([streamed.status, detailsOf(streamed)["missing"]], [422, ["multichannel"]]);
  assert.equal(gateway.sandbox.calls.length, 0);
});
