// `npm run bench -- realtime`: sends the same stream in real time through the gateway's WebSocket and directly to the sandbox, both at once. The difference is
// the latency added by the gateway.
import { once } from "node:events";
import { setTimeout as wait } from "node:timers/promises";
import { WebSocket } from "ws";
import { startSandbox } from "../sandbox/server.ts";
import type { Running } from "./measure/child-process.ts";
import { KEY, startPatchbay } from "./measure/processes.ts";
import { median, quantile, type Report, round } from "./measure/report.ts";
import { noiseWav } from "./upstream/wav.ts";

export interface RealtimeOptions {
  readonly seconds: number;
  readonly streams: number;
}

const BYTES_PER_SECOND = 32_000;
const CHUNK_MS = 100;
const CHUNK_BYTES = (BYTES_PER_SECOND * CHUNK_MS) / 1000;
const WAV_HEAD_BYTES = 44;
/** Staggers the streams, so that they do not delay each other. */
const STAGGER_MS = 37;

/** Milliseconds since the stream's first chunk. */
interface Heard {
  readonly atMs: readonly number[];
  readonly doneMs: number;
  readonly lastChunkMs: number;
}

interface Wire {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly start: object | null;
  readonly finish: object;
  /** Classifies a message: a text, the end, or irrelevant. */
  readonly read: (message: Record<string, unknown>) => "text" | "end" | null;
}

export async function benchRealtime({ seconds, streams }: RealtimeOptions): Promise<Report> {
  await using sides = await openSides();
  const pairs = await Promise.all(speakPairs(sides, { seconds, streams, staggerMs: STAGGER_MS }));
  return report(pairs, { seconds, streams });
}

export interface Sides extends AsyncDisposable {
  readonly gateway: Running;
  readonly through: Wire;
  readonly straight: Wire;
}

export async function openSides(): Promise<Sides> {
  await using opened = new AsyncDisposableStack();
  const sandbox = await startSandbox();
  opened.defer(() => sandbox.close());
  const gateway = opened.use(await startPatchbay({ providerUrl: sandbox.deepgramUrl, databaseUrl: null }));
  const through = throughGateway(gateway.origin);
  const straight = straightTo(sandbox.deepgramUrl);
  // A first one of each warms up the process.
  const audio = audioOf(2.5);
  await Promise.all([speak(through, audio), speak(straight, audio)]);
  const owned = opened.move();
  return { gateway, through, straight, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

function audioOf(seconds: number): Buffer {
  return noiseWav(WAV_HEAD_BYTES + seconds * BYTES_PER_SECOND).subarray(WAV_HEAD_BYTES);
}

export interface Streams extends RealtimeOptions {
  /** Between the starts of two streams. */
  readonly staggerMs: number;
}

/** The same stream on both ways at once, so many times. */
export function speakPairs(
  { through, straight }: Sides,
  { seconds, streams, staggerMs }: Streams,
): readonly Promise<Pair>[] {
  const audio = audioOf(seconds);
  return Array.from({ length: streams }, async (_, index) => {
    await wait(index * staggerMs);
    const [gatewayHeard, straightHeard] = await Promise.all([speak(through, audio), speak(straight, audio)]);
    return { gateway: gatewayHeard, straight: straightHeard };
  });
}

export type Pair = { readonly gateway: Heard; readonly straight: Heard };

/** Compares text by text, at the same position of the recording. */
export function addedMs(
  { gateway, straight }: Pair,
  isCounted: (atMs: number) => boolean = () => true,
): readonly number[] {
  return gateway.atMs.flatMap((atMs, index) => (isCounted(atMs) ? [atMs - (straight.atMs[index] ?? Number.NaN)] : []));
}

function report(pairs: readonly Pair[], { seconds, streams }: RealtimeOptions): Report {
  const figures = (of: (heard: Heard) => number) => ({
    gateway: pairs.map((pair) => of(pair.gateway)),
    straight: pairs.map((pair) => of(pair.straight)),
  });
  const first = figures(({ atMs }) => atMs[0] ?? Number.NaN);
  const final = figures(({ doneMs, lastChunkMs }) => doneMs - lastChunkMs);
  const added = pairs.flatMap((pair) => addedMs(pair));
  const row = (name: string, { gateway, straight }: { gateway: readonly number[]; straight: readonly number[] }) => ({
    "": name,
    "gateway, ms": round(median(gateway), 1),
    "sandbox alone, ms": round(median(straight), 1),
    "added, ms": round(median(gateway) - median(straight), 1),
  });
  return {
    name: "realtime",
    rows: [row("first text, since the first chunk", first), row("whole, since the last chunk", final)],
    notes: [
      `${streams} streams at once of ${seconds} s, 16 kHz samples in chunks of ${CHUNK_MS} ms at real time, each compared with the same stream sent straight to the sandbox.`,
      `Delay added to each of ${added.length} texts: ${round(median(added), 1)} ms at the median, ${round(quantile(added, 0.95), 1)} ms at the 95th percentile; the goal is at most 20 ms at the median.`,
      "The embedded database, metered in slices of 5 s.",
    ],
    data: {
      seconds,
      streams,
      texts: added.length,
      addedMedianMs: round(median(added), 2),
      addedP95Ms: round(quantile(added, 0.95), 2),
      finalAddedMedianMs: round(median(final.gateway) - median(final.straight), 2),
    },
  };
}

async function speak(wire: Wire, audio: Buffer): Promise<Heard> {
  const socket = new WebSocket(wire.url, { headers: wire.headers, perMessageDeflate: false });
  await once(socket, "open");
  const atMs: number[] = [];
  const done = Promise.withResolvers<number>();
  // Awaited only after the last chunk.
  done.promise.catch(() => undefined);
  let beganMs = performance.now();
  socket.on("message", (data: Buffer) => {
    const nowMs = performance.now() - beganMs;
    try {
      const kind = wire.read(JSON.parse(data.toString("utf8")) as Record<string, unknown>);
      if (kind === "text") atMs.push(nowMs);
      if (kind === "end") done.resolve(nowMs);
    } catch (error) {
      done.reject(error);
    }
  });
  socket.once("close", (code) => done.reject(new Error(`the stream was closed with ${code} before its end`)));
  if (wire.start !== null) socket.send(JSON.stringify(wire.start));
  beganMs = performance.now();
  for (let at = 0; at < audio.byteLength; at += CHUNK_BYTES) {
    const dueMs = beganMs + (at / CHUNK_BYTES) * CHUNK_MS;
    await wait(Math.max(0, dueMs - performance.now()));
    socket.send(audio.subarray(at, at + CHUNK_BYTES));
  }
  const lastChunkMs = performance.now() - beganMs;
  socket.send(JSON.stringify(wire.finish));
  try {
    return { atMs, doneMs: await done.promise, lastChunkMs };
  } finally {
    socket.terminate();
  }
}

function throughGateway(origin: string): Wire {
  return {
    url: `${origin.replace("http", "ws")}/v1/transcription/realtime`,
    headers: { authorization: `Bearer ${KEY}` },
    start: { type: "start", encoding: "pcm_s16le", sample_rate: 16_000, language: "en" },
    finish: { type: "finish" },
    read: ({ event, data }) => {
      if (event === "error") throw new Error(`the gateway answered ${JSON.stringify(data)}`);
      if (event === "transcript.delta") return "text";
      return event === "transcript.completed" ? "end" : null;
    },
  };
}

function straightTo(deepgramUrl: string): Wire {
  return {
    url: `${deepgramUrl.replace("http", "ws")}/v1/listen?model=nova-3&language=en&punctuate=true&interim_results=false&encoding=linear16&sample_rate=16000&channels=1`,
    headers: { authorization: "Token secret" },
    start: null,
    finish: { type: "CloseStream" },
    read: ({ type }) => {
      if (type === "Results") return "text";
      return type === "Metadata" ? "end" : null;
    },
  };
}
