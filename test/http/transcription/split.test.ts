// Audio beyond a model's limits (`split_long_audio`): one answer from several calls, without a gap; one reservation, one charge; refused
// where a required feature would be lost, or where this gateway cannot decode it. Requests and jobs alike.
import assert from "node:assert/strict";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, beforeEach, test } from "node:test";
import type { Fault, Sandbox } from "../../../sandbox/server.ts";
import type { ConfigurationFile } from "../../../src/config/schema/file.ts";
import { findFfmpeg } from "../../../src/audio/decode/find-ffmpeg.ts";
import { routingDecision } from "../../../src/contract/transcription/transcription-envelope.ts";
import type { GatewayServices, IoRequest } from "../../../src/gateway/services.ts";
import { ProviderError, type StreamingIo } from "../../../src/providers/io.ts";
import { fixture } from "../../audio/build-audio.ts";
import { inOrder, pcmWav, RATE, silence, syllables } from "../../audio/pcm.ts";
import { attemptRows } from "../../harness/attempts.ts";
import { type Answer, detailsOf, envelopeOf, postForm, speech } from "../../harness/client.ts";
import { configurationWith } from "../../harness/configuration.ts";
import { KEY, startGateway, type TestGateway } from "../../harness/gateway.ts";
import { attemptsOf as jobAttemptsOf } from "../../jobs/setting.ts";
import { ended, submit } from "../jobs/jobs.ts";

const PAIR_KEY = "test-key-of-the-pair-app-000001";
const POLLED_KEY = "test-key-of-the-polled-app-0001";
const WHOLE_KEY = "test-key-of-the-whole-app-00001";
/** 7.378 s, three seconds at most a piece: three pieces or more. */
const CAP_SECONDS = 3;
const SECONDS = 7.378;

let gateway: TestGateway;
/** What happens as the n-th call is opened. */
let atCall: (n: number, request: IoRequest) => StreamingIo | null;
let opened = 0;
before(async () => {
  gateway = await startGateway({ file: fileOf, wrapGateway: watched });
});
after(() => gateway.close());
beforeEach(() => {
  gateway.sandbox.clearCalls();
  gateway.sandbox.clearFaults();
  opened = 0;
  atCall = () => null;
});

function watched(services: GatewayServices): GatewayServices {
  return {
    ...services,
    openIo: (request) => {
      opened += 1;
      return atCall(opened, request) ?? services.openIo(request);
    },
  };
}

/** The n-th call, and no other, suffers it. */
function faultAt(n: number, wire: "deepgram" | "assemblyai", fault: Fault): void {
  atCall = (call) => {
    if (call === n) gateway.sandbox.addFault({ wire, times: 1, fault });
    return null;
  };
}

const pieces = () => gateway.sandbox.calls.filter(({ wire }) => wire === "deepgram");

/** Every sample of the recording was sent, once. */
function assertTiled(samples: number, capSeconds = CAP_SECONDS): void {
  const frames = pieces().map(({ file }) => ((file?.sizeBytes ?? 0) - 44) / 2);
  assert.equal(
    frames.reduce((sum, each) => sum + each, 0),
    samples,
  );
  assert.ok(frames.every((each) => each <= capSeconds * RATE));
}

test("transcription.split: one answer of several pieces: every sample sent once, every word there, times of the whole, one charge", async () => {
  const answer = await postForm(gateway.origin, { fields: { timestamps: "both" } });
  const { content, words, segments, usage, duration_seconds: duration, warnings } = envelopeOf(answer);
  const count = pieces().length;
  assert.ok(count >= 3, String(count));
  assertTiled((speech().length - 44) / 2);
  assert.equal(content.match(/simulated transcript/gu)?.length, count);
  assert.equal(words.map(({ text }) => text).join(" "), content);
  assert.equal(segments.map(({ text }) => text).join(" "), content);
  for (const [index, word] of words.entries()) assert.ok(word.start >= (words[index - 1]?.start ?? 0));
  // The sandbox spreads its words over each piece: the first of one starts where the one before ends.
  const starts = words.filter(({ text }) => text === "[simulated").map(({ start }) => start);
  assert.equal(starts[0], 0);
  assert.ok(starts.slice(1).every((start, index) => start > (starts[index] ?? 0) && start < duration));
  assert.ok(Math.abs((words.at(-1)?.end ?? 0) - duration) < 0.01);
  assert.deepEqual(
    warnings.map(({ code }) => code),
    [],
  );
  assert.deepEqual([usage.audio_seconds, usage.billable_audio_seconds], [SECONDS, SECONDS]);
  assert.deepEqual(await attemptsOf(answer), [["nova-3", "succeeded", SECONDS]]);
  await assertSpoolEmpty();
});

test("routing.split-opt-in: audio within the limits is sent as it is", async () => {
  const file = pcmWav(syllables(CAP_SECONDS));
  envelopeOf(await postForm(gateway.origin, { file }));
  assert.deepEqual(
    pieces().map((call) => call.file?.sizeBytes),
    [file.length],
  );
});

test("transcription.split: one sample beyond the limit is cut, and nothing of it is lost", async () => {
  const samples = inOrder(syllables(CAP_SECONDS), silence(0.001));
  envelopeOf(await postForm(gateway.origin, { file: pcmWav(samples) }));
  assert.equal(pieces().length, 2);
  assertTiled(samples.length);
});

test("routing.dry-run-decision: dry_run reports that the audio would be cut; nothing is called", async () => {
  const decision = routingDecision.parse((await postForm(gateway.origin, { fields: { dry_run: "true" } })).json);
  assert.deepEqual(
    decision.candidates.map(({ eligible, missing, split }) => ({ eligible, missing, split })),
    [{ eligible: true, missing: [], split: { max_piece_seconds: CAP_SECONDS, least_pieces: 3 } }],
  );
  assert.equal(gateway.sandbox.callCount, 0);
});

for (const [what, fields, missing] of [
  ["speakers", { diarization: "true" }, ["duration", "diarization"]],
  ["redaction", { redaction: "pci", language: "en" }, ["duration", "redaction.pci"]],
] as const) {
  test(`routing.split-excluded: ${what} would not survive the cut: 422, the lack named, nothing called`, async () => {
    const answer = await postForm(gateway.origin, { fields });
    assert.deepEqual([answer.status, answer.code], [422, "REQUIRED_FEATURE_UNSUPPORTED"]);
    assert.deepEqual(detailsOf(answer)["missing"], missing);
    assert.equal(gateway.sandbox.callCount, 0);
  });
}

test("routing.split-opt-in: a route without the switch cuts nothing", async () => {
  const answer = await postForm(gateway.origin, { key: WHOLE_KEY });
  assert.deepEqual([answer.status, detailsOf(answer)["missing"]], [422, ["duration"]]);
});

test("routing.split-decoder: what cannot be decoded here is not cut: 422 with the reason, on jobs too", async () => {
  for (const path of ["/v1/transcription", "/v1/transcription/jobs"]) {
    const answer = await postForm(gateway.origin, { path, file: fixture("speech.m4a") });
    assert.deepEqual([answer.status, answer.code], [422, "REQUIRED_FEATURE_UNSUPPORTED"]);
    assert.deepEqual(detailsOf(answer)["missing"], ["duration", "decoder"]);
  }
  assert.equal(gateway.sandbox.callCount, 0);
});

test("transcription.channels-refused: channels that matter stay separate in every piece", async () => {
  const left = syllables(5);
  const stereo = Int16Array.from({ length: left.length * 2 }, (_, index) => left[index >> 1] ?? 0);
  const answer = await postForm(gateway.origin, {
    file: pcmWav(stereo, RATE, 2),
    fields: { multichannel: "true" },
  });
  const { segments } = envelopeOf(answer);
  const sizes = pieces().map(({ file }) => (file?.sizeBytes ?? 0) - 44);
  assert.equal(
    sizes.reduce((sum, each) => sum + each, 0),
    stereo.byteLength,
  );
  assert.deepEqual([...new Set(segments.map(({ channel }) => channel))], [0, 1]);
});

test("transcription.split-failure: an unknown outcome of one piece is that of the whole: nothing more is sent, nothing charged", async () => {
  faultAt(2, "deepgram", { kind: "reset_after_body" });
  const answer = await postForm(gateway.origin, { key: PAIR_KEY });
  assert.deepEqual([answer.status, answer.code], [502, "PROVIDER_RESULT_UNKNOWN"]);
  assert.equal(gateway.sandbox.callCount, 2);
  assert.deepEqual(await attemptsOf(answer), [["nova-3", "unknown", 0]]);
  await assertSpoolEmpty();
});

test("transcription.split-failure: a definite failure of a later piece: the next target does the whole, the pieces before cost the app nothing", async () => {
  faultAt(2, "deepgram", { kind: "status", status: 500 });
  const answer = await postForm(gateway.origin, { key: PAIR_KEY });
  assert.match(envelopeOf(answer).content, /^\[simulated transcript, 7\.4 s, mono\]$/u);
  assert.deepEqual(await attemptsOf(answer), [
    ["nova-3", "failed:server_error", 0],
    ["whisper-1", "succeeded", SECONDS],
  ]);
});

test("transcription.split-hang-up: a caller who hangs up in the middle pays for the pieces that were sent", async () => {
  atCall = (n, { onDispatch }) => {
    if (n < 2) return null;
    const aborted = async (): Promise<never> => {
      onDispatch();
      throw new ProviderError("aborted");
    };
    return {
      credential: null,
      send: aborted,
      open: aborted,
      connect: aborted,
      onRemoteRun: async () => undefined,
      pause: async () => undefined,
      remember: async (_name, make) => (await make()).value,
      forget: () => undefined,
      retain: () => undefined,
      nowMs: Date.now,
    };
  };
  const answer = await postForm(gateway.origin);
  const [attempt] = await attemptsOf(answer);
  assert.equal(attempt?.[1], "aborted");
  const [first] = pieces();
  assert.ok((attempt?.[2] ?? 0) > ((first?.file?.sizeBytes ?? 0) - 44) / 2 / RATE);
  assert.ok((attempt?.[2] ?? 0) < SECONDS);
});

test("transcription.split-failure: a piece that comes back empty though it has speech in it is no whole: the next target is called", async () => {
  faultAt(2, "deepgram", { kind: "empty" });
  const answer = await postForm(gateway.origin, { key: PAIR_KEY });
  assert.match(envelopeOf(answer).content, /7\.4 s/u);
  assert.deepEqual(await attemptsOf(answer), [
    ["nova-3", "failed:feature_dropped", 0],
    ["whisper-1", "succeeded", SECONDS],
  ]);
  gateway.sandbox.clearFaults();
  opened = 0;
  faultAt(2, "deepgram", { kind: "empty" });
  const alone = envelopeOf(await postForm(gateway.origin));
  assert.ok(alone.warnings.some(({ code }) => code === "EMPTY_TRANSCRIPT"));
});

test("transcription.split: a job is cut as a request is, and its result has the times of the whole", async () => {
  const { job_id: jobId } = await submit(gateway.origin);
  const job = await ended(gateway.origin, jobId);
  assert.equal(job.status, "succeeded", JSON.stringify(job.error));
  assertTiled((speech().length - 44) / 2);
  assert.equal(job.usage?.billable_audio_seconds, SECONDS);
  assert.deepEqual(
    (await jobAttemptsOf(gateway.database, jobId)).map(({ outcome }) => outcome),
    ["succeeded"],
  );
});

test("transcription.split, jobs.deletion-due: of a provider that is polled each piece is a run of its own, and each is deleted there", async () => {
  const { job_id: jobId } = await submit(gateway.origin, { key: POLLED_KEY });
  const job = await ended(gateway.origin, jobId, POLLED_KEY);
  assert.equal(job.status, "succeeded", JSON.stringify(job.error));
  const runs = gateway.sandbox.calls.filter(({ method, path }) => method === "POST" && !path.endsWith("/upload"));
  assert.ok(runs.length >= 3);
  assert.equal(job.result?.content.match(/simulated transcript/gu)?.length, runs.length);
  const deleted = () => gateway.sandbox.calls.filter(({ method, outcome }) => method === "DELETE" && outcome === 200);
  // The sweep comes every ten seconds; here it is called as soon as there may be something.
  while (deleted().length < runs.length) await gateway.app.gateway.deletions.sweep();
  assert.equal(deleted().length, runs.length);
});

test("transcription.split-failure, jobs.unknown-outcome: a job with an unknown piece fails as unknown, uncharged, and is not sent again", async () => {
  faultAt(2, "deepgram", { kind: "reset_after_body" });
  const { job_id: jobId } = await submit(gateway.origin);
  const job = await ended(gateway.origin, jobId);
  assert.deepEqual([job.status, job.error?.code], ["failed", "PROVIDER_RESULT_UNKNOWN"]);
  assert.equal(pieces().length, 2);
  assert.deepEqual(
    (await jobAttemptsOf(gateway.database, jobId)).map(({ outcome, charge }) => [outcome, charge]),
    [["unknown", "0"]],
  );
});

test("transcription.split, measuring.decoder: with ffmpeg every format is cut (a stand-in that plays its command line)", async () => {
  const folder = await mkdtemp(join(tmpdir(), "patchbay-ffmpeg-"));
  const program = join(folder, "ffmpeg");
  const frames = Math.round(7.4188 * RATE);
  await writeFile(program, `#!${process.execPath}\nprocess.stdout.write(Buffer.alloc(${frames * 2}));\n`, {
    mode: 0o755,
  });
  const existing = await startGateway({ existing: gateway, file: fileOf, ffmpeg: program });
  try {
    envelopeOf(await postForm(existing.origin, { file: fixture("speech-cbr.mp3") }));
    assertTiled(frames);
    await writeFile(program, `#!${process.execPath}\nprocess.exitCode = 1;\n`, { mode: 0o755 });
    gateway.sandbox.clearCalls();
    const answer = await postForm(existing.origin, { file: fixture("speech-cbr.mp3") });
    assert.deepEqual([answer.status, answer.code], [502, "PROVIDER_REJECTED"]);
    assert.equal(gateway.sandbox.callCount, 0);
    assert.deepEqual(await attemptsOf(answer), []);
  } finally {
    await existing.close();
    await rm(folder, { recursive: true, force: true });
  }
});

const FFMPEG = findFfmpeg(process.env["PATH"]);
test("transcription.split, measuring.decoder: the real ffmpeg cuts every format", {
  skip: FFMPEG === null ? "SKIPPED: no ffmpeg on the PATH" : false,
}, async () => {
  const existing = await startGateway({ existing: gateway, file: fileOf, ffmpeg: FFMPEG ?? "" });
  try {
    for (const name of [
      "speech-cbr.mp3",
      "speech-moov-at-end.m4a",
      "speech-opus.webm",
      "video.mpeg",
      "speech-16k.wav",
    ]) {
      gateway.sandbox.clearCalls();
      const { words, duration_seconds: duration } = envelopeOf(
        await postForm(existing.origin, { file: fixture(name), fields: { timestamps: "word" } }),
      );
      assert.ok(pieces().length >= 2, name);
      assert.ok(Math.abs((words.at(-1)?.end ?? 0) - duration) < 0.1, name);
    }
  } finally {
    await existing.close();
  }
});

/** Model, outcome, seconds that were charged. */
async function attemptsOf(answer: Answer) {
  const rows = await attemptRows(gateway, answer);
  // 3.60 USD an hour are a million nano-USD a second.
  return rows.map((row) => [row.model, row.outcome, Number(row.charge_nano_usd ?? 0) / 1_000_000] as const);
}

async function assertSpoolEmpty(): Promise<void> {
  assert.deepEqual(await readdir(join(gateway.dataDir, "spool")), []);
}

function fileOf(sandbox: Sandbox): ConfigurationFile {
  const capped = { capabilities: ["audio_input" as const], limits: { max_seconds: CAP_SECONDS } };
  return configurationWith(sandbox, {
    scopes: ["transcribe", "jobs"],
    connections: {
      dg: { kind: "deepgram", models: { "nova-3": capped } },
      aa: { kind: "assemblyai", models: { "universal-2": capped } },
    },
    prices: { "deepgram/nova-3": "3.60", "openai/whisper-1": "3.60", "assemblyai/universal-2": "3.60" },
    routes: {
      alone: { targets: "dg/nova-3", split_long_audio: true },
      pair: { targets: ["dg/nova-3", "oa/whisper-1"], split_long_audio: true },
      polled: { targets: "aa/universal-2", split_long_audio: true },
      whole: "dg/nova-3",
    },
    apps: {
      notes: { route: "alone", key: KEY },
      pair: { key: PAIR_KEY },
      polled: { key: POLLED_KEY },
      whole: { key: WHOLE_KEY },
    },
  });
}
