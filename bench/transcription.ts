// Compares transcription through the gateway with a bare forwarder, nginx and the peer, on the same stand-in and load, in alternating rounds, so that a busy
// machine slows all alike. All features are on: keys, spool, hash, measuring, routing, reservation, and settlement on disk.
import {
  type Contender,
  type Engine,
  type Gateway,
  figuresOf,
  inTurns,
  measured,
  openGateway,
  openOthers,
  transcription,
} from "./upstream/contenders.ts";
import { startDatabases } from "./measure/databases.ts";
import { KEY, runLoad, startStandIn } from "./measure/processes.ts";
import { profiled, profileNote } from "./measure/profiled.ts";
import { type Report, round } from "./measure/report.ts";
import { SEED } from "./upstream/wav.ts";

export interface TranscriptionBench {
  readonly sizeBytes: number;
  readonly seconds: number;
  readonly connections: number;
  readonly engine: Engine;
  readonly processes: number;
}

/** Each process compiles hot code only after it has run often. */
const WARM_UP_SECONDS = 10;
const MOST_REQUESTS = 100_000;
const WAV_HEADER_BYTES = 44;
/** The gateway's default. */
const LARGEST_FILE_BYTES = 26_214_400;
const TARGET_RATIO = 0.5;

export async function benchTranscription(options: TranscriptionBench): Promise<Report> {
  const { engine, connections, sizeBytes, seconds } = options;
  await using databases = engine === "postgres" ? await startDatabases() : null;
  await using standIn = await startStandIn();
  const workload = transcription(standIn.origin);
  const load = uploading(sizeBytes, connections);
  const results = await compare();
  const target = { providerUrl: standIn.origin, databaseUrl: (await databases?.create()) ?? null };
  const profile = await profiled(target, ({ origin }, seconds) =>
    load({ origin, path: workload.paths.gateway, headers: {} }, seconds),
  );
  const figures = results.map(({ contender, rounds }) => ({ name: contender.name, ...figuresOf(rounds) }));
  const data = figures.map((each) => ({
    ...each,
    ratio: round(each.perSecond / (figures[0]?.perSecond ?? Number.NaN), 3),
  }));
  const ratio = data.at(-1)?.ratio ?? Number.NaN;
  return {
    name: "transcription",
    rows: data.map((each) => ({
      "": each.name,
      "requests/s (median)": each.perSecond,
      ratio: each.ratio,
      rounds: each.rounds.join(", "),
      n: each.n,
      "p50 ms": each.p50Ms,
      "p99 ms": each.p99Ms,
      "CPU ms/request": each.cpuMs ?? "",
      "PostgreSQL CPU ms/request": each.databaseCpuMs ?? "",
    })),
    notes: [
      `ratio ${ratio} (target ${TARGET_RATIO}: ${ratio >= TARGET_RATIO ? "met" : "MISSED"}); CPU is user and system time of all threads`,
      `${connections} connections, ${sizeBytes} bytes of audio each, rounds of ${round(seconds / 3, 1)} s`,
      profileNote("transcription", profile),
    ],
    data: { ...options, seed: SEED, ratio, results: data, profile },
  };

  async function compare() {
    await using opened = new AsyncDisposableStack();
    const gateway: Gateway = options;
    const contenders = [
      ...(await openOthers(opened, workload)),
      await openGateway(opened, databases, workload, gateway),
    ];
    for (const contender of contenders) await measured(contender, () => load(contender, WARM_UP_SECONDS));
    return await inTurns(contenders, seconds, load);
  }
}

export function uploading(sizeBytes: number, connections: number, maxRequests = MOST_REQUESTS) {
  return ({ origin, path, headers }: Pick<Contender, "origin" | "path" | "headers">, seconds: number) =>
    runLoad({
      origin,
      request: { kind: "upload", path, fileBytes: Math.min(sizeBytes + WAV_HEADER_BYTES, LARGEST_FILE_BYTES) },
      headers,
      connections,
      seconds,
      maxRequests,
      key: KEY,
    });
}
