// The child process of `engine-process.ts`: loads one model and recognises what it is sent, one operation at a time. It ends with its parent.
import { readSync } from "node:fs";
import { Worker } from "node:worker_threads";
import type { EngineConfig } from "./engine-config.ts";
import {
  type EngineFault,
  type EngineOrder,
  type EngineReport,
  type EngineResult,
  type EngineValue,
  HEARTBEAT_MS,
  SAMPLES_FD,
} from "./engine-protocol.ts";
import {
  loadSherpa,
  type OfflineRecognizer,
  type OfflineStream,
  type OnlineRecognizer,
  type OnlineStream,
  type Sherpa,
  sherpaResult,
  sherpaTurns,
  type SpeakerDiarization,
} from "./sherpa.ts";
import { freeBuffer } from "../../../lib/free-buffer.ts";
import { threadUrl } from "../../../lib/thread-url.ts";

type Loaded =
  | { readonly kind: "offline"; readonly recognizer: OfflineRecognizer; readonly pieces: Map<number, Prepared> }
  | { readonly kind: "online"; readonly recognizer: OnlineRecognizer; readonly streams: Map<number, OnlineStream> }
  | { readonly kind: "speakers"; readonly diarization: SpeakerDiarization; readonly parts: Float32Array[] };

/** A piece whose features are computed, or why they are not. */
type Prepared = { readonly stream: OfflineStream } | { readonly failure: unknown };

class EngineError extends Error {
  readonly reason: EngineFault;

  constructor(reason: EngineFault, cause: unknown) {
    super(reason, { cause });
    this.reason = reason;
  }
}

function serve(): void {
  let loaded: Loaded | null = null;
  const readSamples = createSampleReader();
  // Some operations block this thread, so another one watches the parent.
  new Worker(threadUrl(import.meta.url, "watch-parent"), { workerData: process.ppid }).unref();
  process.once("disconnect", () => process.exit());
  setInterval(() => report({ kind: "alive", residentBytes: process.memoryUsage.rss() }), HEARTBEAT_MS).unref();
  process.on("message", (order: EngineOrder) => {
    // Also if the piece cannot be decoded: the next one would get the samples that are left in the pipe.
    if (order.kind === "piece") return prepare(loaded, order, readSamples(order.sampleCount));
    if (!("id" in order)) return note(loaded, order);
    const work = async (): Promise<EngineValue> => {
      if (order.kind !== "load") return operate(loaded, order);
      loaded = await load(order.config);
      return { kind: "loaded" };
    };
    void work().then(
      (value) => report({ kind: "done", id: order.id, value }),
      (error: unknown) => report({ kind: "failed", id: order.id, ...faultOf(error) }),
    );
  });
}

/** Blocks while the parent writes them. They are valid until the next call. */
function createSampleReader(): (count: number) => Int16Array {
  let buffer = new Int16Array(0);
  return (count) => {
    if (buffer.length < count) buffer = new Int16Array(count);
    const samples = buffer.subarray(0, count);
    for (let at = 0; at < samples.byteLength; ) {
      const bytes = readSync(SAMPLES_FD, samples, at, samples.byteLength - at, null);
      // The parent has ended.
      if (bytes === 0) process.exit();
      at += bytes;
    }
    return samples;
  };
}

function report(message: EngineReport): void {
  // The parent may be gone: then this process ends.
  process.send?.(message, undefined, undefined, () => undefined);
}

function faultOf(error: unknown): Pick<Extract<EngineReport, { kind: "failed" }>, "reason" | "detail"> {
  const reason = error instanceof EngineError ? error.reason : "decode_failed";
  const cause = error instanceof EngineError ? error.cause : error;
  return { reason, detail: cause instanceof Error ? cause.message.slice(0, 500) : "" };
}

async function load(config: EngineConfig): Promise<Loaded> {
  const sherpa = await loadSherpa().catch((error: unknown) => {
    throw new EngineError("engine_not_installed", error);
  });
  try {
    return await create(sherpa, config);
  } catch (error) {
    throw new EngineError("load_failed", error);
  }
}

async function create(sherpa: Sherpa, config: EngineConfig): Promise<Loaded> {
  switch (config.kind) {
    case "offline": {
      const { model, tokens, sampleRate, featureDim, decoding, threads } = config;
      const recognizer = await sherpa.OfflineRecognizer.createAsync({
        featConfig: { sampleRate, featureDim },
        modelConfig: { ...model, tokens, numThreads: threads, provider: "cpu", debug: 0 },
        decodingMethod: decoding,
      });
      return { kind: "offline", recognizer, pieces: new Map() };
    }
    case "online": {
      const { model, tokens, sampleRate, featureDim, threads } = config;
      const recognizer = new sherpa.OnlineRecognizer({
        featConfig: { sampleRate, featureDim },
        modelConfig: { ...model, tokens, numThreads: threads, provider: "cpu", debug: 0 },
        decodingMethod: "greedy_search",
        enableEndpoint: 1,
        ...ENDPOINTS,
      });
      return { kind: "online", recognizer, streams: new Map() };
    }
    case "speakers": {
      const { segmentation, embedding, threads } = config;
      const common = { numThreads: threads, provider: "cpu", debug: 0 };
      const diarization = new sherpa.OfflineSpeakerDiarization({
        segmentation: { pyannote: { model: segmentation }, ...common },
        embedding: { model: embedding, ...common },
        clustering: clusteringFor(null),
        minDurationOn: 0.3,
        minDurationOff: 0.5,
      });
      return { kind: "speakers", diarization, parts: [] };
    }
  }
}

/** An utterance ends after this much silence, in seconds: without and with text, and at the latest after the last. */
const ENDPOINTS = { rule1MinTrailingSilence: 2.4, rule2MinTrailingSilence: 0.8, rule3MinUtteranceLength: 20 };

/** Without a number of speakers, voices that are closer than this are one speaker. */
function clusteringFor(speakers: number | null): { readonly numClusters: number; readonly threshold: number } {
  return { numClusters: speakers ?? -1, threshold: 0.5 };
}

/** Computes the features: of a piece that waits, while another is decoded. With a small model they take twice as long as the decode itself. */
function prepare(
  loaded: Loaded | null,
  { piece, sampleRate, keyterms }: Extract<EngineOrder, { kind: "piece" }>,
  samples: Int16Array,
): void {
  if (loaded?.kind !== "offline") return;
  const { recognizer, pieces } = loaded;
  try {
    const stream = keyterms.length === 0 ? recognizer.createStream() : recognizer.createStream(keyterms.join("/"));
    const floats = toFloats(samples);
    stream.acceptWaveform({ samples: floats, sampleRate });
    // The stream has its own copy.
    freeBuffer(floats);
    pieces.set(piece, { stream });
  } catch (error) {
    // Reported by its `decode`.
    pieces.set(piece, { failure: error });
  }
}

type Note = Extract<EngineOrder, { kind: "part" | "drop" | "discard" }>;

function note(loaded: Loaded | null, order: Note): void {
  if (order.kind === "discard" && loaded?.kind === "offline") loaded.pieces.delete(order.piece);
  if (order.kind === "part" && loaded?.kind === "speakers") loaded.parts.push(toFloats(order.samples));
  if (order.kind === "drop" && loaded?.kind === "online") loaded.streams.delete(order.stream);
}

type Operation = Exclude<EngineOrder, Note | { kind: "load" | "piece" }>;

async function operate(loaded: Loaded | null, order: Operation): Promise<EngineValue> {
  if (loaded?.kind === "offline" && order.kind === "decode") return decode(loaded, order);
  if (loaded?.kind === "online" && order.kind !== "decode" && order.kind !== "diarize") return listen(loaded, order);
  if (loaded?.kind === "speakers" && order.kind === "diarize") return diarize(loaded, order.speakers);
  throw new Error(`${order.kind} is not possible with ${loaded?.kind ?? "no model"}`);
}

async function decode(
  { recognizer, pieces }: Extract<Loaded, { kind: "offline" }>,
  { piece }: Extract<EngineOrder, { kind: "decode" }>,
): Promise<EngineValue> {
  const prepared = pieces.get(piece);
  pieces.delete(piece);
  if (prepared === undefined) throw new Error("no such piece");
  if ("failure" in prepared) throw prepared.failure;
  return { kind: "recognised", results: [resultOf(await recognizer.decodeAsync(prepared.stream))] };
}

function listen(
  { recognizer, streams }: Extract<Loaded, { kind: "online" }>,
  order: Extract<EngineOrder, { kind: "open" | "feed" | "finish" }>,
): EngineValue {
  if (order.kind === "open") {
    streams.set(order.stream, recognizer.createStream());
    return { kind: "recognised", results: [] };
  }
  const stream = streams.get(order.stream);
  if (stream === undefined) throw new Error("no such stream");
  if (order.kind === "feed") stream.acceptWaveform({ samples: toFloats(order.samples), sampleRate: order.sampleRate });
  else {
    // The model needs audio after the last word.
    stream.acceptWaveform({ samples: new Float32Array(TAIL_SAMPLES), sampleRate: TAIL_RATE });
    stream.inputFinished();
  }
  const results: EngineResult[] = [];
  while (recognizer.isReady(stream)) {
    recognizer.decode(stream);
    if (!recognizer.isEndpoint(stream)) continue;
    results.push(resultOf(recognizer.getResult(stream)));
    recognizer.reset(stream);
  }
  if (order.kind === "finish") {
    results.push(resultOf(recognizer.getResult(stream)));
    streams.delete(order.stream);
  }
  return { kind: "recognised", results: results.filter(({ text }) => text.trim() !== "") };
}

const TAIL_RATE = 16_000;
const TAIL_SAMPLES = TAIL_RATE / 2;

function diarize({ diarization, parts }: Extract<Loaded, { kind: "speakers" }>, speakers: number | null): EngineValue {
  const samples = joined(parts.splice(0));
  diarization.setConfig({ clustering: clusteringFor(speakers) });
  const turns = sherpaTurns.parse(diarization.process(samples));
  return { kind: "diarized", turns: turns.map(({ start, end, speaker }) => ({ start, end, speaker })) };
}

function joined(parts: readonly Float32Array[]): Float32Array {
  const whole = new Float32Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

function resultOf(value: unknown): EngineResult {
  const result = sherpaResult.parse(value);
  return {
    text: result.text,
    tokens: result.tokens,
    timestamps: result.timestamps,
    durations: result.durations,
    logProbs: result.ys_log_probs.length > 0 ? result.ys_log_probs : result.ys_probs,
    language: result.lang.replaceAll(/[<>|]/gu, ""),
    startSeconds: result.start_time,
  };
}

/** One step of the features at 16 kHz. With fewer samples than half of it the engine aborts its process. */
const MIN_SAMPLES = 400;

/** A shorter remainder of a recording is followed by silence. */
function toFloats(samples: Int16Array): Float32Array {
  const floats = new Float32Array(Math.max(samples.length, MIN_SAMPLES));
  for (let index = 0; index < samples.length; index++) floats[index] = (samples[index] ?? 0) / 32_768;
  return floats;
}

serve();
