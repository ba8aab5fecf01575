// The steps of the table of goals, in their order. Each calls the functions of the benchmark of the same name with fixed parameters, and names the goals.
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { compareChat } from "../chat.ts";
import { measureJobs } from "../jobs/jobs.ts";
import { DIRECT, FRONTIER_P99_MS, measureDelays, measureFrontier } from "../latency.ts";
import { dataOf, GOAL_MEBIBYTES, inMebibytes, measureInstalled } from "../memory/start.ts";
import { benchUploadMemory } from "../memory/uploads.ts";
import { measureStreams } from "../realtime-limit.ts";
import { openSides } from "../realtime.ts";
import { compareTranscription } from "../transcription.ts";
import type { Contender, Engine } from "../upstream/contenders.ts";
import { atLeast, atMost, type Reading, type StepResult } from "./reading.ts";

export interface Step {
  /** It is ended then, and reported as failed. */
  readonly limitSeconds: number;
  /** `engines`: in the order of this run. */
  readonly measure: (engines: readonly Engine[]) => Promise<StepResult>;
}

const MIB = 1_048_576;
const JOBS = { jobs: 2_000, connections: 16, singles: 10 };
const LATENCY = { seconds: 2, connections: [1, 4, 16, 64] };
const FRONTIER = { seconds: 2, engines: ["postgres"] } as const;
const CHAT = { seconds: 6, connections: [32, 256], peer: null };
const TRANSCRIPTION = { seconds: 6, connections: 32, sizeBytes: MIB };
const UPLOADS = { uploads: 200, sizeBytes: 25 * MIB };
const IDLE_SECONDS = 60;
/** Of the bare forwarder's requests per second. */
const UPLOAD_SHARE = 0.7;
const CHAT_SHARES = { plain: { 32: 0.6, 256: 0.6 }, stream: { 32: 0.8, 256: 0.7 } } as const;
/** The delays that were measured on a quiet machine before jobs, tails and memory were worked on; no change may lengthen them. */
const STREAMS = [
  { streams: 8, seconds: 30, medianMs: 1.1, p95Ms: 3.2 },
  { streams: 150, seconds: 10, medianMs: 1, p95Ms: 5.8 },
  { streams: 800, seconds: 8, medianMs: 1, p95Ms: 16.8 },
] as const;

export const STEPS: Readonly<Record<string, Step>> = {
  jobs: { limitSeconds: 240, measure: jobs },
  latency: { limitSeconds: 600, measure: latency },
  frontier: { limitSeconds: 420, measure: frontier },
  chat: { limitSeconds: 420, measure: chat },
  transcription: { limitSeconds: 240, measure: transcription },
  realtime: { limitSeconds: 240, measure: realtime },
  memory: { limitSeconds: 600, measure: memory },
  "upload-memory": { limitSeconds: 240, measure: uploadMemory },
};

async function jobs(engines: readonly Engine[]): Promise<StepResult> {
  const data = [];
  for (const engine of engines) data.push(await measureJobs(engine, JOBS));
  const readings = data.flatMap(({ engine, bursts }) =>
    bursts.flatMap((each): readonly Reading[] => {
      const of = { of: storageOf(engine), n: each.submitted };
      const what = `jobs, ${each.burst} burst of a process`;
      return [
        { ...of, what: `${what}, finished`, unit: "per second", value: each.finishedPerSecond, goal: atLeast(500) },
        { ...of, what: `${what}, submission, p50`, unit: "ms", value: each.submitP50Ms, goal: atMost(25) },
        { ...of, what: `${what}, CPU of the gateway`, unit: "ms", value: each.gatewayCpuMs, goal: atMost(2) },
        { ...of, what: `${what}, CPU of PostgreSQL`, unit: "ms", value: each.databaseCpuMs, goal: atMost(1.5) },
      ];
    }),
  );
  return { readings, data };
}

async function latency(engines: readonly Engine[]): Promise<StepResult> {
  const data = await measureDelays({ ...LATENCY, engines });
  const readings = data
    .filter(({ name }) => name !== DIRECT)
    .flatMap(({ name, connections, n, goals, addedP50Ms, addedP99Ms }): readonly Reading[] => {
      const what = `chat, connections: ${connections}, added`;
      const of = { of: columnOf(name), unit: "ms", n } as const;
      const [p50, p99] = goals === null ? [null, null] : [atMost(goals.p50Ms), atMost(goals.p99Ms)];
      return [
        { ...of, what: `${what} p50`, value: addedP50Ms, goal: p50 },
        { ...of, what: `${what} p99`, value: addedP99Ms, goal: p99 },
      ];
    });
  return { readings, data };
}

async function frontier(): Promise<StepResult> {
  const data = await measureFrontier(FRONTIER);
  const readings = data.frontiers.flatMap(({ name, perSecond }) =>
    FRONTIER_P99_MS.map((limitMs, index): Reading => {
      // 0: p99 is above the limit with every number of connections.
      const value = perSecond[index] ?? 0;
      const n = data.frontier.find((each) => each.name === name && each.perSecond === value)?.n ?? 0;
      const what = `chat, most requests with a p99 of at most ${limitMs} ms`;
      return { what, of: columnOf(name), unit: "per second", value, n, goal: null };
    }),
  );
  return { readings, data };
}

async function chat(engines: readonly Engine[]): Promise<StepResult> {
  const data = await compareChat({ ...CHAT, gateways: engines.map((engine) => ({ engine, processes: 1 })) });
  const readings = data.flatMap((row) => {
    const share = new Map(Object.entries(CHAT_SHARES[row.mode])).get(`${row.connections}`) ?? 0;
    return shareReadings(`chat, ${row.mode}, connections: ${row.connections},`, row, share);
  });
  return { readings, data };
}

async function transcription(engines: readonly Engine[]): Promise<StepResult> {
  const gateways = engines.map((engine) => ({ engine, processes: 1 }));
  const data = await compareTranscription({ ...TRANSCRIPTION, gateways });
  const readings = data.flatMap((row) => shareReadings("upload of 1 MiB, connections: 32,", row, UPLOAD_SHARE));
  return { readings, data };
}

interface Compared {
  readonly name: string;
  readonly kind: Contender["kind"];
  readonly n: number;
  readonly ratio: number;
  readonly perSecond: number;
  readonly cpuMs: number | null;
  readonly databaseCpuMs: number | null;
}

function shareReadings(what: string, row: Compared, share: number): readonly Reading[] {
  const { n, kind, ratio, perSecond, cpuMs, databaseCpuMs } = row;
  const of = { of: columnOf(row.name), n };
  const cpu = cpuMs === null ? [] : [cpuMs + (databaseCpuMs ?? 0)];
  const goal = kind === "gateway" ? atLeast(share) : null;
  return [
    ...(kind === "bare"
      ? []
      : [{ ...of, what: `${what} share of the bare forwarder`, unit: "ratio", value: ratio, goal } as const]),
    { ...of, what: `${what} requests`, unit: "per second", value: perSecond, goal: null },
    ...cpu.map((value): Reading => ({ ...of, what: `${what} CPU with PostgreSQL`, unit: "ms", value, goal: null })),
  ];
}

async function realtime(): Promise<StepResult> {
  await using sides = await openSides();
  const data = [];
  const readings: Reading[] = [];
  for (const { streams, seconds, medianMs, p95Ms } of STREAMS) {
    const measured = await measureStreams(sides, streams, seconds);
    data.push(measured);
    const what = `live audio, streams: ${streams},`;
    const of = { of: storageOf("embedded"), n: measured.texts };
    // Without a text there is no delay.
    if (measured.texts > 0)
      readings.push(
        { ...of, what: `${what} added median`, unit: "ms", value: measured.medianMs, goal: atMost(medianMs) },
        { ...of, what: `${what} added p95`, unit: "ms", value: measured.p95Ms, goal: atMost(p95Ms) },
      );
    readings.push(
      { ...of, what: `${what} failed`, unit: "streams", value: measured.failed, goal: atMost(0) },
      { ...of, what: `${what} CPU of the gateway`, unit: "cores", value: measured.gatewayCores, goal: null },
    );
  }
  return { readings, data };
}

async function memory(engines: readonly Engine[]): Promise<StepResult> {
  // Otherwise the package of an earlier commit would be measured.
  await promisify(execFile)("npm", ["run", "build"], { cwd: join(import.meta.dirname, "../..") });
  const { firstStart, idleEmbedded, idleServer } = GOAL_MEBIBYTES;
  const data = [];
  const readings: Reading[] = [];
  for (const engine of engines) {
    const started = await measureInstalled(engine, IDLE_SECONDS);
    data.push({ engine, ...dataOf(started) });
    const { idle, peak, readings: n } = started;
    const isEmbedded = engine === "embedded";
    const of = { of: storageOf(engine), unit: "MiB" } as const;
    readings.push(
      {
        ...of,
        what: `memory, idle, ${isEmbedded ? "with" : "without"} PostgreSQL's`,
        value: inMebibytes(idle.own.bytes),
        n: idle.own.processes,
        goal: atMost(isEmbedded ? idleEmbedded : idleServer),
      },
      {
        ...of,
        what: "memory, peak of a first start",
        value: inMebibytes(peak.own.bytes),
        n,
        goal: isEmbedded ? atMost(firstStart) : null,
      },
    );
  }
  return { readings, data };
}

async function uploadMemory(): Promise<StepResult> {
  const { data } = await benchUploadMemory(UPLOADS);
  const n = data.statuses["200"] ?? 0;
  if (n !== UPLOADS.uploads) throw new Error(`not all uploads were answered: ${JSON.stringify(data.statuses)}`);
  const of = { of: storageOf("postgres"), unit: "MiB", n } as const;
  const what = "memory of the gateway, 200 uploads of 25 MiB,";
  return {
    readings: [
      { ...of, what: `${what} peak`, value: inMebibytes(data.peakBytes), goal: atMost(512) },
      { ...of, what: `${what} before`, value: inMebibytes(data.idleBytes), goal: null },
    ],
    data,
  };
}

function storageOf(engine: Engine): string {
  return engine === "embedded" ? "embedded" : "PostgreSQL";
}

/** Of the name of a contender. */
function columnOf(name: string): string {
  return name.replace("Patchbay, ", "");
}
