// `npm run bench -- local`: models on this machine through the gateway, compared with the engine called directly, in turns, so that a busy machine slows both.
// The difference is the latency that the gateway adds.
import { fork, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { Agent } from "node:http";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { setTimeout as wait } from "node:timers/promises";
import { findFfmpeg } from "../src/audio/decode/find-ffmpeg.ts";
import { packageRoot } from "../src/cli/package-root.ts";
import type { InstalledModel } from "../src/local-models/installed-model.ts";
import { cutAtSilences, RECORDING_CUTS, UTTERANCE_CUTS } from "../src/providers/local/cut-at-silences.ts";
import { demonstrationDirectory, readDemonstration } from "../src/providers/local/demonstration.ts";
import type { EngineConfig } from "../src/providers/local/engine/engine-config.ts";
import { engineConfigOf } from "../src/providers/local/engine/engine-config-of.ts";
import { askHttp } from "../test/faults/ask-http.ts";
import { type HumanRecording, joinSamples, readHumanSpeech, realModels } from "../test/harness/human-speech.ts";
import { installCopy, RATE, wavOf, WORDS, wordsModel } from "../test/harness/local-model.ts";
import { countWordErrors, sumWordErrors, type WordErrors, wordErrorRate } from "../test/harness/word-errors.ts";
import { cpuMsOf, memoryOf } from "./cost.ts";
import type { Running } from "./measure/child-process.ts";
import { localKey, startPatchbay } from "./measure/processes.ts";
import { median, quantile, type Report, round } from "./measure/report.ts";
import { mebibytes } from "./measure/sizes.ts";
import type { DirectAnswer, DirectOrder } from "./upstream/direct-engine.ts";
import { formAround } from "./upstream/wav.ts";

export interface LocalBench {
  /** Measurements of each recording and each model. */
  readonly rounds: number;
  /** Times that each model is loaded. */
  readonly starts: number;
}

/** The goal: at most so much more than the engine takes. */
const GOAL_MS = 10;
const GOAL_SHARE = 0.01;
/**
 * The process compiles hot code only after it has run often: the first hundred requests take half as long again. A gateway in use is past that, so that each
 * model and each recording is warmed up first. A short run, as in CI, has fewer rounds and includes some of it.
 */
const WARM_UP_REQUESTS = 200;
const WARM_UP_ROUNDS = 50;
const WARM_UP_PER_ROUND = 2;

/** Of each recording. */
function warmUpRounds({ rounds }: Pick<LocalBench, "rounds">): number {
  return Math.min(WARM_UP_ROUNDS, WARM_UP_PER_ROUND * rounds);
}

/** The demonstration model under another name, under which it accepts every recording. */
const DEMONSTRATION_COPY = "demonstration-copy";

interface Sample {
  readonly what: string;
  readonly seconds: number;
  readonly samples: Int16Array;
  /** An encoded file, and what decodes it on both ways. Null: samples at the rate of the engine. */
  readonly encoded: { readonly file: Uint8Array; readonly by: "ffmpeg" | "mpg123" } | null;
  readonly form: ReturnType<typeof formAround>;
}

interface Measured {
  readonly model: string;
  readonly what: string;
  readonly seconds: number;
  readonly direct: readonly number[];
  readonly gateway: readonly number[];
  /** Processor time of the gateway and its database for each request. */
  readonly cpuMs: number;
}

interface ModelFigures {
  readonly model: string;
  readonly rates: readonly Measured[];
  readonly errors: WordErrors;
  readonly loadedBytes: number;
  readonly peakBytes: number;
  readonly coldGatewayMs: readonly number[];
  readonly coldDirectMs: readonly number[];
}

export async function benchLocal(options: LocalBench): Promise<Report> {
  await using resources = new AsyncDisposableStack();
  const copies = await mkdtemp(join(tmpdir(), "patchbay-bench-models-"));
  resources.defer(() => rm(copies, { recursive: true, force: true }));
  const demonstration = await readDemonstration(demonstrationDirectory(packageRoot()));
  const own = [
    ...(demonstration === null ? [] : [installCopy(demonstration, copies, { name: DEMONSTRATION_COPY })]),
    installCopy(wordsModel, copies, { name: WORDS }),
  ];
  const real = await realModels();
  const figures = await measurePlace(copies, own, options);
  if (real.dir !== null) figures.push(...(await measurePlace(real.dir, real.models, options)));
  return report(figures, options, real.dir === null);
}

async function measurePlace(
  dir: string,
  models: readonly InstalledModel[],
  options: LocalBench,
): Promise<ModelFigures[]> {
  const local = { dir, names: models.map(({ name }) => name) };
  await using gateway = await startPatchbay({ providerUrl: "http://127.0.0.1:9", databaseUrl: null, local });
  const figures: ModelFigures[] = [];
  for (const [index, model] of models.entries()) {
    const config = engineConfigOf(model, Math.min(4, Math.max(1, availableParallelism() - 1)));
    // A streaming model is fed while audio arrives, so that there is no decode to compare with.
    if (config?.kind === "offline") figures.push(await measureModel({ model, config, gateway, index }, options));
  }
  return figures;
}

interface Contest {
  readonly model: InstalledModel;
  readonly config: EngineConfig;
  readonly gateway: Running;
  readonly index: number;
}

async function measureModel({ model, config, gateway, index }: Contest, options: LocalBench): Promise<ModelFigures> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const ask = (form: Sample["form"]) => askGateway({ origin: gateway.origin, agent, key: localKey(index) }, form);
  try {
    const recordings = await recordingsOf();
    const [shortest] = recordings;
    if (shortest === undefined) throw new Error("there is no recording");
    const coldGatewayMs: number[] = [];
    const coldDirectMs: number[] = [];
    for (let start = 0; start < options.starts; start += 1) {
      await unload(gateway.pid);
      coldGatewayMs.push((await ask(shortest.form)).tookMs);
      coldDirectMs.push(await coldStart(config, shortest));
    }
    const errors = await errorsOf(ask);
    for (let count = 0; count < WARM_UP_REQUESTS; count += 1) await ask(shortest.form);
    await using direct = await openDirect(config);
    const rates: Measured[] = [];
    let loadedBytes = 0;
    for (const { what, seconds, samples, form, encoded } of recordings) {
      const pieces = await piecesOf(samples, model.spec.features.words);
      const mpeg = encoded?.by === "mpg123" ? encoded.file : null;
      const ffmpegFile = encoded?.by === "ffmpeg" ? encoded.file : null;
      const askDirect = async () => (await ffmpegMs(ffmpegFile)) + (await direct.decode({ pieces, mpeg }));
      const pairs: (readonly [direct: number, gateway: number])[] = [];
      let cpuBeganMs = 0;
      for (let turn = -warmUpRounds(options); turn < options.rounds; turn += 1) {
        if (turn === 0) cpuBeganMs = ownCpuMs(gateway.pid);
        // Each is first in every second turn.
        const isDirectFirst = turn % 2 === 0;
        const before = isDirectFirst ? await askDirect() : null;
        const { tookMs } = await ask(form);
        const directMs = before ?? (await askDirect());
        if (turn >= 0) pairs.push([directMs, tookMs]);
      }
      if (loadedBytes === 0) loadedBytes = memoryOf(engineOf(gateway.pid)).rssBytes;
      rates.push({
        model: model.name,
        what,
        seconds,
        direct: pairs.map(([each]) => each),
        gateway: pairs.map(([, each]) => each),
        cpuMs: (ownCpuMs(gateway.pid) - cpuBeganMs) / options.rounds,
      });
    }
    const { peakBytes } = memoryOf(engineOf(gateway.pid));
    return { model: model.name, rates, errors, loadedBytes, peakBytes, coldGatewayMs, coldDirectMs };
  } finally {
    agent.destroy();
  }
}

const FFMPEG = findFfmpeg(process.env["PATH"]);

/** Speech of people: a sentence, two and a half, more than one piece, and compressed files. */
async function recordingsOf(): Promise<readonly Sample[]> {
  const { recordings } = await readHumanSpeech();
  const speech = joinSamples(recordings.map(({ samples }) => samples));
  const plain = [3, 15, 60].map((seconds): Sample => {
    const repeats = Math.ceil((seconds * RATE) / speech.length);
    const samples = joinSamples(Array.from({ length: repeats }, () => speech)).slice(0, seconds * RATE);
    return { what: "WAV", seconds, samples, encoded: null, form: formAround(wavOf(samples)) };
  });
  return [...plain, ...recordings.filter(({ name }) => name.endsWith(".mp3")).flatMap(encodedSamples)];
}

/** At 16 kHz, as it is, and at 44.1 kHz, which only ffmpeg resamples. */
function encodedSamples({ file, samples }: HumanRecording): readonly Sample[] {
  const seconds = round(samples.length / RATE, 1);
  const form = (bytes: Uint8Array) => formAround(Buffer.from(bytes));
  const own: Sample = {
    what: "MP3 at 16 kHz, both by mpg123",
    seconds,
    samples,
    encoded: { file, by: "mpg123" },
    form: form(file),
  };
  const music = FFMPEG === null ? null : resampledMp3(FFMPEG, file);
  if (music === null) return [own];
  const byFfmpeg: Sample = {
    what: "MP3 at 44.1 kHz, both by ffmpeg",
    seconds,
    samples,
    encoded: { file: music, by: "ffmpeg" },
    form: form(music),
  };
  return [own, byFfmpeg];
}

/** Null: this ffmpeg has no encoder of MP3. */
function resampledMp3(ffmpeg: string, file: Uint8Array): Uint8Array | null {
  const args = ["-loglevel", "quiet", "-f", "mp3", "-i", "pipe:0", "-ar", "44100", "-f", "mp3", "pipe:1"];
  const { status, stdout } = spawnSync(ffmpeg, args, { input: file, timeout: 60_000, maxBuffer: 16 * 1_048_576 });
  return status === 0 ? stdout : null;
}

/** The time that a program takes which calls ffmpeg itself. */
async function ffmpegMs(encoded: Uint8Array | null): Promise<number> {
  if (encoded === null || FFMPEG === null) return 0;
  const beganMs = performance.now();
  const args = ["-loglevel", "quiet", "-threads", "1", "-f", "mp3", "-i", "pipe:0", "-ac", "1", "-ar", `${RATE}`];
  const child = spawn(FFMPEG, [...args, "-f", "s16le", "pipe:1"], { stdio: ["pipe", "pipe", "ignore"] });
  child.stdin.end(encoded);
  await buffer(child.stdout);
  return performance.now() - beganMs;
}

async function piecesOf(samples: Int16Array, hasWords: boolean): Promise<DirectOrder["pieces"]> {
  async function* chunks() {
    yield { samples, sampleRate: RATE };
  }
  const pieces: Int16Array[] = [];
  for await (const piece of cutAtSilences(chunks(), hasWords ? RECORDING_CUTS : UTTERANCE_CUTS))
    if (!piece.isSilent) pieces.push(piece.samples);
  return pieces;
}

interface Answered {
  readonly tookMs: number;
  readonly text: string;
}

async function askGateway(
  { origin, agent, key }: { readonly origin: string; readonly agent: Agent; readonly key: string },
  { contentType, body }: Sample["form"],
): Promise<Answered> {
  const beganMs = performance.now();
  const { status, text } = await askHttp(origin, agent, {
    method: "POST",
    path: "/v1/transcription",
    headers: { authorization: `Bearer ${key}`, "content-type": contentType },
    body,
  });
  const tookMs = performance.now() - beganMs;
  if (status !== 200) throw new Error(`an answer was no success: ${status} ${text}`);
  return { tookMs, text };
}

async function errorsOf(ask: (form: Sample["form"]) => Promise<Answered>): Promise<WordErrors> {
  const { recordings } = await readHumanSpeech();
  const counted: WordErrors[] = [];
  for (const { samples, text } of recordings) {
    const { content } = JSON.parse((await ask(formAround(wavOf(samples)))).text) as { readonly content: string };
    counted.push(countWordErrors(text, content));
  }
  return sumWordErrors(counted);
}

interface Direct extends AsyncDisposable {
  decode(order: DirectOrder): Promise<number>;
}

async function openDirect(config: EngineConfig): Promise<Direct> {
  const child = fork(join(import.meta.dirname, "upstream/direct-engine.ts"), [JSON.stringify({ config })], {
    execArgv: [],
    serialization: "advanced",
  });
  const exited = once(child, "exit");
  let answer = Promise.withResolvers<unknown>();
  child.on("message", (message) => answer.resolve(message));
  child.once("exit", () => answer.reject(new Error("the process that calls the engine has ended")));
  await answer.promise;
  return {
    decode: async ({ pieces, mpeg }) => {
      answer = Promise.withResolvers();
      child.send({ pieces: [...pieces], mpeg });
      return ((await answer.promise) as DirectAnswer).tookMs;
    },
    [Symbol.asyncDispose]: async () => {
      child.disconnect();
      await exited;
    },
  };
}

/** From the start of the process to the first result. */
async function coldStart(config: EngineConfig, { samples }: Sample): Promise<number> {
  const beganMs = performance.now();
  await using direct = await openDirect(config);
  await direct.decode({ pieces: [samples], mpeg: null });
  return performance.now() - beganMs;
}

/** Ends the engines of the gateway, which starts one with the next request. */
async function unload(pid: number): Promise<void> {
  for (let engine = findEngine(pid); engine !== null; engine = findEngine(pid)) {
    process.kill(engine, "SIGKILL");
    await wait(50);
  }
}

/** Processor time of the gateway and its database, without the engine. */
function ownCpuMs(pid: number): number {
  return cpuMsOf(pid) - cpuMsOf(engineOf(pid));
}

function engineOf(pid: number): number {
  const engine = findEngine(pid);
  if (engine === null) throw new Error("the gateway has no process of the engine");
  return engine;
}

function findEngine(pid: number): number | null {
  for (const child of childrenOf(pid)) {
    if (readText(`/proc/${child}/cmdline`).includes("engine-main")) return child;
    const below = findEngine(child);
    if (below !== null) return below;
  }
  return null;
}

function childrenOf(pid: number): readonly number[] {
  return readText(`/proc/${pid}/task/${pid}/children`).split(" ").filter(Boolean).map(Number);
}

/** Empty for a process that has ended. */
function readText(path: string): string {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return "";
  }
}

function report(figures: readonly ModelFigures[], { rounds, starts }: LocalBench, lacksReal: boolean): Report {
  const results = figures.flatMap(({ rates }) => rates.map(resultOf));
  return {
    name: "local",
    rows: results.map((each) => ({
      model: each.model,
      audio: `${each.seconds} s, ${each.what}`,
      n: each.n,
      "engine alone, ms (p10 to p90)": spread(each.directMs),
      "gateway, ms (p10 to p90)": spread(each.gatewayMs),
      "added, ms (p10 to p90)": spread(each.addedMs),
      "difference of the p10, ms": each.p10AddedMs,
      "at most, ms": each.goalMs,
      verdict: each.isMet ? "met" : "MISSED",
      "CPU of the gateway, ms": each.cpuMs,
      "real-time factor, alone": each.directFactor,
      "real-time factor, gateway": each.gatewayFactor,
    })),
    notes: [
      ...figures.map(
        ({ model, loadedBytes, peakBytes, coldGatewayMs, coldDirectMs, errors }) =>
          `${model}: the child has ${mebibytes(loadedBytes)} resident after recordings of 3 s, at most ${mebibytes(peakBytes)}. First answer of an unloaded model, median of ${starts} (range): ${range(coldGatewayMs)} ms, compared with ${range(coldDirectMs)} ms of a new process that calls the engine. Speech of people: ${round(wordErrorRate(errors) * 100, 1)} % word errors (${errors.errors} in ${errors.words}).`,
      ),
      `Uploads one after the other, WAV at 16 kHz, ${rounds} of each, in turns with the same pieces decoded in a process of its own, after ${warmUpRounds({ rounds })} unmeasured rounds; added: the median of the differences. The goal is at most ${GOAL_MS} ms and ${GOAL_SHARE * 100} % of the engine's time. The embedded database, which flushes each commit.`,
      ...(lacksReal ? ["No model of PATCHBAY_MODELS_DIR: no real model was measured."] : []),
    ],
    data: {
      rounds,
      starts,
      results,
      models: figures.map(({ model, errors, loadedBytes, peakBytes, coldGatewayMs, coldDirectMs }) => ({
        model,
        wordErrorRate: round(wordErrorRate(errors), 4),
        loadedBytes,
        peakBytes,
        coldGatewayMs: coldGatewayMs.map((ms) => round(ms, 0)),
        coldDirectMs: coldDirectMs.map((ms) => round(ms, 0)),
      })),
    },
  };
}

function resultOf({ model, what, seconds, direct, gateway, cpuMs }: Measured) {
  const added = gateway.map((each, index) => each - (direct[index] ?? Number.NaN));
  const goalMs = round(GOAL_MS + GOAL_SHARE * median(direct), 2);
  return {
    model,
    what,
    seconds,
    n: direct.length,
    directMs: quantilesOf(direct),
    gatewayMs: quantilesOf(gateway),
    addedMs: quantilesOf(added),
    // What is left when both were disturbed least.
    p10AddedMs: round(quantile(gateway, 0.1) - quantile(direct, 0.1), 2),
    cpuMs: round(cpuMs, 1),
    goalMs,
    isMet: median(added) <= goalMs,
    directFactor: round(median(direct) / 1000 / seconds, 5),
    gatewayFactor: round(median(gateway) / 1000 / seconds, 5),
  };
}

interface Quantiles {
  readonly p10: number;
  readonly p50: number;
  readonly p90: number;
}

function quantilesOf(values: readonly number[]): Quantiles {
  return {
    p10: round(quantile(values, 0.1), 2),
    p50: round(median(values), 2),
    p90: round(quantile(values, 0.9), 2),
  };
}

function spread({ p10, p50, p90 }: Quantiles): string {
  return `${p50} (${p10} to ${p90})`;
}

function range(values: readonly number[]): string {
  return `${round(median(values), 0)} (${round(Math.min(...values), 0)} to ${round(Math.max(...values), 0)})`;
}
