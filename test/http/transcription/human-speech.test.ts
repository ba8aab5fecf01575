// Speech of people through every way of the gateway, with the real engine: the demonstration model, whose error rate is printed, and the models of
// PATCHBAY_MODELS_DIR, whose error rate has a bound.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test, type TestContext } from "node:test";
import { parseSync } from "subtitle";
import { findFfmpeg } from "../../../src/audio/decode/find-ffmpeg.ts";
import { packageRoot } from "../../../src/cli/package-root.ts";
import type {
  Segment,
  TranscriptionEnvelope,
  Word,
} from "../../../src/contract/transcription/transcription-envelope.ts";
import { webhookEvent, webhookView } from "../../../src/contract/webhook.ts";
import type { InstalledModel } from "../../../src/local-models/installed-model.ts";
import { MANIFEST } from "../../../src/local-models/manifest.ts";
import { demonstrationDirectory, readDemonstration } from "../../../src/providers/local/demonstration.ts";
import { verifyWebhook } from "../../../src/webhooks/verify.ts";
import { envelopeOf, postForm } from "../../harness/client.ts";
import { configurationWith } from "../../harness/configuration.ts";
import { startGateway, type TestGateway } from "../../harness/gateway.ts";
import {
  errorBound,
  type HumanRecording,
  joinSamples,
  readHumanSpeech,
  realModels,
} from "../../harness/human-speech.ts";
import { installCopy, RATE, wavOf } from "../../harness/local-model.ts";
import { MODELS_DIR } from "../../harness/models-dir.ts";
import {
  countWordErrors,
  scoredWords,
  sumWordErrors,
  type WordErrors,
  wordErrorRate,
} from "../../harness/word-errors.ts";
import { readAll } from "../../outbound/loopback.ts";
import { pretendInternet } from "../../outbound/pretend-internet.ts";
import { WITH_ENGINE } from "../../providers/local/engines.ts";
import { ended, submit } from "../jobs/jobs.ts";
import { call, envelopeIn, speak as speakLive, START } from "../realtime/setup.ts";
import { call as callAdmin } from "../stt-webhook/workspace.ts";
import { completed, deltas, streamForm } from "./stream/streamed.ts";

/** The demonstration model under another name, under which it accepts every recording. */
const DEMONSTRATION_COPY = "demonstration-copy";
/** What it was measured at, so that the bound of the tests applies to it, too. */
const DEMONSTRATION_QUALITY = "word errors on these recordings: 90 %";
/** The same files under the name of a model that is better by far. */
const PRETENDER = "parakeet-110m-en";
const ADMIN = "key-of-the-administrator-of-acme-1";
const RECEIVER = "https://receiver.example/hooks";

const real = await realModels();
const { recordings, undecoded } = await readHumanSpeech();

interface Place {
  readonly gateway: TestGateway;
  readonly keyOf: (model: string) => string;
}

const demonstration = await readDemonstration(demonstrationDirectory(packageRoot()));
assert.ok(demonstration !== null, "models/demonstration is part of the repository");
const copiesDir = mkdtempSync(join(tmpdir(), "patchbay-models-"));
const copy = installCopy(demonstration, copiesDir, {
  name: DEMONSTRATION_COPY,
  publishedQuality: DEMONSTRATION_QUALITY,
});
const pretender = installCopy(demonstration, copiesDir, {
  name: PRETENDER,
  publishedQuality: MANIFEST.find(({ name }) => name === PRETENDER)?.publishedQuality ?? null,
});

interface Delivery {
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

let receiver: Server;
const delivered: Delivery[] = [];
const waiting: (() => void)[] = [];
let copies: Place;
let reals: Place | null = null;

before(async () => {
  receiver = createServer((request, response) => void receive(request, response));
  await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
  copies = await openPlace(copiesDir, [copy, pretender]);
  if (real.dir !== null) reals = await openPlace(real.dir, real.models);
});
after(async () => {
  await copies.gateway.close();
  await reals?.gateway.close();
  receiver.closeAllConnections();
  receiver.close();
  rmSync(copiesDir, { recursive: true });
});

async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
  delivered.push({ headers: request.headers, body: await readAll(request) });
  response.writeHead(204).end();
  for (const wake of waiting.splice(0)) wake();
}

/** A gateway with an app for each model, and a receiver of webhooks. */
async function openPlace(modelsDir: string, models: readonly InstalledModel[]): Promise<Place> {
  const internet = pretendInternet();
  internet.name("receiver.example", ["93.184.216.34"]);
  internet.server("93.184.216.34", new URL(`http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`));
  const ids = new Map(models.map(({ name }, index) => [name, `model-${index}`]));
  const keyOf = (model: string): string => `key-of-the-app-of-${ids.get(model)}-0001`;
  const unknown = models.filter(({ name }) => MANIFEST.every((spec) => spec.name !== name));
  const ffmpeg = findFfmpeg(process.env["PATH"]);
  const gateway = await startGateway({
    network: internet,
    ...(ffmpeg === null ? {} : { ffmpeg }),
    file: (sandbox) =>
      configurationWith(sandbox, {
        scopes: ["transcribe", "jobs"],
        models: { dir: modelsDir },
        connections: {
          here: {
            kind: "local",
            models: Object.fromEntries(unknown.map(({ name }) => [name, { capabilities: ["audio_input"] }])),
          },
        },
        routes: Object.fromEntries(models.map(({ name }) => [ids.get(name) ?? "", `here/${name}`])),
        apps: Object.fromEntries(
          models.map(({ name }) => [ids.get(name) ?? "", { route: ids.get(name) ?? "", key: keyOf(name) }]),
        ),
        admin: ADMIN,
      }),
  });
  return { gateway, keyOf };
}

/** Prints the rate, and refuses one above the model's bound. */
function judge(t: TestContext, { name, spec }: InstalledModel, way: string, counted: readonly WordErrors[]): void {
  const sum = sumWordErrors(counted);
  const rate = wordErrorRate(sum);
  const bound = errorBound(spec);
  const { words, substitutions, deletions, insertions, errors } = sum;
  const kinds = `${substitutions} substituted, ${deletions} missing, ${insertions} inserted`;
  const said = `${name}, ${way}: ${(rate * 100).toFixed(1)} % word errors, ${errors} in ${words} words (${kinds})`;
  t.diagnostic(`${said}, at most ${(bound * 100).toFixed(1)} %`);
  assert.ok(rate <= bound, `${said}, more than ${(bound * 100).toFixed(1)} %`);
}

const [first, second] = recordings;
assert.ok(first !== undefined && second !== undefined);
const pause = (seconds: number): Int16Array => new Int16Array(RATE * seconds);
const bytesOf = (samples: Int16Array): Buffer => Buffer.from(samples.buffer, samples.byteOffset, samples.byteLength);
const textOf = (parts: readonly Pick<HumanRecording, "text">[]): string => parts.map(({ text }) => text).join(" ");

/** Three sentences with pauses, of which each way makes utterances. */
const shortTalk = recordings.slice(0, 3);
const talk = joinSamples(shortTalk.flatMap(({ samples }) => [samples, pause(1)]));

const wordTimes = ({ spec }: InstalledModel): Record<string, string> =>
  spec.features.words ? { timestamps: "word" } : {};

async function transcribe(place: Place, model: InstalledModel, file: Uint8Array): Promise<TranscriptionEnvelope> {
  const key = place.keyOf(model.name);
  return envelopeOf(await postForm(place.gateway.origin, { key, file, fields: wordTimes(model) }));
}

function assertInOrder(parts: readonly (Word | Segment)[], seconds: number): void {
  for (const [index, { start, end }] of parts.entries()) {
    assert.ok(start >= (parts[index - 1]?.start ?? 0) && start <= end && end <= seconds + 0.001, `${start} to ${end}`);
  }
}

async function uploads(t: TestContext, place: Place, model: InstalledModel): Promise<void> {
  const counted: WordErrors[] = [];
  for (const { file, text, samples } of recordings) {
    const envelope = await transcribe(place, model, file);
    assertInOrder(envelope.words, samples.length / RATE);
    if (model.spec.features.words)
      assert.deepEqual(scoredWords(envelope.words.map((word) => word.text).join(" ")), scoredWords(envelope.content));
    counted.push(countWordErrors(text, envelope.content));
  }
  judge(t, model, "upload", counted);
}

async function jobs(t: TestContext, place: Place, model: InstalledModel): Promise<void> {
  const { origin } = place.gateway;
  const key = place.keyOf(model.name);
  const set = await callAdmin(place.gateway, "PUT", "/workspace/acme/stt-webhook", {
    key: ADMIN,
    body: { url: RECEIVER, enabled: true, rotate_secret: true, revoke_previous: true },
  });
  assert.equal(set.status, 200, set.text);
  const { secret } = webhookView.parse(set.json);
  const counted: WordErrors[] = [];
  for (const { file, text } of recordings) {
    const { job_id: id } = await submit(origin, { key, file });
    const done = await ended(origin, id, key);
    assert.equal(done.status, "succeeded", JSON.stringify(done.error));
    const delivery = await deliveryOf(id);
    const verdict = verifyWebhook({ ...delivery, secret: secret ?? "" });
    assert.ok(verdict.ok, JSON.stringify(verdict));
    const content = done.result?.content ?? "";
    assert.equal(content, (await transcribe(place, model, file)).content);
    counted.push(countWordErrors(text, content));
  }
  judge(t, model, "job with webhook", counted);
}

/** The delivery that reports the end of this job. */
async function deliveryOf(jobId: string): Promise<Delivery> {
  for (;;) {
    const found = delivered.find(({ body }) => webhookEvent.parse(JSON.parse(body.toString())).job_id === jobId);
    if (found !== undefined) return found;
    await new Promise<void>((resolve) => waiting.push(resolve));
  }
}

async function captions(t: TestContext, place: Place, model: InstalledModel): Promise<void> {
  const { content } = await transcribe(place, model, wavOf(talk));
  for (const format of ["srt", "vtt"]) {
    const answer = await postForm(place.gateway.origin, {
      key: place.keyOf(model.name),
      file: wavOf(talk),
      fields: { response_format: format },
    });
    const file = envelopeOf(answer).content;
    assert.equal(file.startsWith("WEBVTT"), format === "vtt");
    const cues = parseSync(file).flatMap((node) => (node.type === "cue" ? [node.data] : []));
    for (const [index, { start, end }] of cues.entries())
      assert.ok(start >= (cues[index - 1]?.end ?? 0) && start < end && end <= (talk.length / RATE) * 1000 + 1);
    const text = cues.map((cue) => cue.text.replaceAll("\n", " ")).join(" ");
    assert.deepEqual(scoredWords(text), scoredWords(content));
    judge(t, model, `captions as ${format.toUpperCase()}`, [countWordErrors(textOf(shortTalk), text)]);
  }
}

async function live(t: TestContext, place: Place, model: InstalledModel): Promise<void> {
  const key = place.keyOf(model.name);
  const streamed = await streamForm(place.gateway.origin, { key, file: wavOf(talk) });
  const { content } = completed(streamed);
  assert.equal(deltas(streamed).join(""), content);
  const caller = await call(place.gateway.origin, { key });
  await speakLive(caller, START, bytesOf(talk));
  assert.deepEqual(await caller.closed, [1000, ""], JSON.stringify(caller.events.at(-1)));
  const spoken = envelopeIn(caller).content;
  // A streaming model hears the same audio in other chunks, and may decide otherwise.
  if (!model.spec.features.streaming) assert.equal(spoken, content);
  judge(t, model, "stream of a file (SSE)", [countWordErrors(textOf(shortTalk), content)]);
  judge(t, model, "live audio (WebSocket)", [countWordErrors(textOf(shortTalk), spoken)]);
}

async function channels(t: TestContext, place: Place, model: InstalledModel): Promise<void> {
  const speakers = [recordings[0], recordings.at(-1)].flatMap((each) => (each === undefined ? [] : [each]));
  const length = Math.max(...speakers.map(({ samples }) => samples.length));
  const padded = speakers.map(({ samples }) => joinSamples([samples, new Int16Array(length - samples.length)]));
  const answer = await postForm(place.gateway.origin, {
    key: place.keyOf(model.name),
    file: wavOf(...padded),
    fields: { multichannel: "true", timestamps: model.spec.features.words ? "both" : "segment" },
  });
  const { segments } = envelopeOf(answer);
  const counted: WordErrors[] = [];
  for (const [channel, { text }] of speakers.entries()) {
    const heard = segments
      .filter((segment) => segment.channel === channel)
      .map((segment) => segment.text)
      .join(" ");
    const alone = await transcribe(place, model, wavOf(padded[channel] ?? pause(1)));
    if (!model.spec.features.streaming) assert.deepEqual(scoredWords(heard), scoredWords(alone.content));
    counted.push(countWordErrors(text, heard));
  }
  judge(t, model, "two channels", counted);
}

/** Minutes of speech, with pauses at which it is cut. */
const ROUNDS = 6;
const BETWEEN_SECONDS = 1.2;

async function longRecording(t: TestContext, place: Place, model: InstalledModel): Promise<void> {
  const order = Array.from({ length: ROUNDS }, () => recordings).flat();
  const samples = joinSamples(order.flatMap((each) => [each.samples, pause(BETWEEN_SECONDS)]));
  const { words, content } = await transcribe(place, model, wavOf(samples));
  assertInOrder(words, samples.length / RATE);
  const ends: { readonly start: number; readonly end: number }[] = [];
  let at = 0;
  for (const each of order) {
    ends.push({ start: at / RATE, end: (at + each.samples.length) / RATE });
    at += each.samples.length + RATE * BETWEEN_SECONDS;
  }
  // No word is in a pause: the times of all pieces are those of the recording. A streaming model returns a word when it has heard more.
  for (const { text, start, end } of model.spec.features.streaming ? [] : words) {
    const middle = (start + end) / 2;
    assert.ok(
      ends.some((sentence) => sentence.start <= middle && middle <= sentence.end),
      `${text} at ${start} to ${end} is in a pause`,
    );
  }
  judge(t, model, `long recording of ${Math.round(samples.length / RATE)} s`, [
    countWordErrors(textOf(order), content),
  ]);
}

const WAYS = [
  ["every recording is transcribed, with times in their order", uploads],
  ["a job has the same text, and its end is delivered to the webhook, signed", jobs],
  ["captions as SRT and VTT have the words of the text, in their order", captions],
  ["the stream of a file and live audio have the same text", live],
  ["two people in two channels are two texts", channels],
  ["a long recording is cut, and no word is in a pause", longRecording],
] as const;

for (const [title, run] of WAYS) {
  test(`local.human-speech: ${title} (demonstration model)`, WITH_ENGINE, (t) => run(t, copies, copy));
  for (const model of real.models)
    test(`local.human-speech, local.error-bound: ${title} (${model.name})`, WITH_ENGINE, async (t) => {
      assert.ok(reals !== null);
      await run(t, reals, model);
    });
}

test(
  "local.error-bound: the same errors of a model with a better published rate are refused",
  WITH_ENGINE,
  async (t) => {
    assert.ok(errorBound(pretender.spec) < 0.2);
    await assert.rejects(
      uploads(t, copies, pretender),
      /parakeet-110m-en, upload: .* % word errors, .* more than 15\.2 %/u,
    );
  },
);

test("local.error-bound: the bound is the highest published rate and a tenth, or a half where none was published", () => {
  const bounds = Object.fromEntries(
    MANIFEST.map((spec) => [spec.name, Math.round(errorBound(spec) * 1000) / 10] as const),
  );
  assert.equal(bounds["parakeet-110m-en"], 15.2);
  assert.equal(bounds["moonshine-tiny-en"], 22.7);
  assert.equal(bounds["parakeet-0.6b-v3"], 16.3);
  assert.equal(bounds["zipformer-20m-en-streaming"], 50);
});

test(`local.error-bound: ${MODELS_DIR} without a recogniser is an error, and without the variable there is none to test`, async (t) => {
  const empty = mkdtempSync(join(tmpdir(), "patchbay-models-"));
  t.after(() => rmSync(empty, { recursive: true }));
  await assert.rejects(realModels({ [MODELS_DIR]: empty }), /where no recogniser of English is installed/u);
  assert.deepEqual(await realModels({}), { dir: null, models: [] });
  const { models } = await realModels({ [MODELS_DIR]: copiesDir });
  assert.deepEqual(
    models.map(({ name }) => name),
    [DEMONSTRATION_COPY, PRETENDER],
  );
});

test("local.human-speech: real models recognise speech of people", {
  skip:
    real.models.length > 0
      ? false
      : `SKIPPED: NO REAL MODEL WAS TESTED. Set ${MODELS_DIR} to a directory of models (patchbay models pull)`,
}, (t) => {
  t.diagnostic(`models of ${real.dir}: ${real.models.map(({ name }) => name).join(", ")}`);
});

test("local.human-speech: every recording of people is read by a decoder of this machine", {
  skip: undecoded.length === 0 ? false : `SKIPPED: ${undecoded.join(", ")}: no decoder here reads it (ffmpeg does)`,
}, () => {
  assert.equal(recordings.length, 6);
});
