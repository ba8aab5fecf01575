// Compares transcription through the gateway with a bare forwarder, nginx and the peer, on the same stand-in and load, in alternating rounds, so that a busy
// machine slows all alike. All features are on: keys, spool, hash, measuring, routing, reservation, and settlement on disk.
import {
  type Contender,
  type Engine,
  type Figures,
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
  const data = await compareTranscription({ ...options, gateways: [options] });
  await using databases = engine === "postgres" ? await startDatabases() : null;
  await using standIn = await startStandIn();
  const target = { providerUrl: standIn.origin, databaseUrl: (await databases?.create()) ?? null };
  const profile = await profiled(target, ({ origin }, seconds) =>
    uploading(sizeBytes, connections)(
      { origin, path: transcription(standIn.origin).paths.gateway, headers: {} },
      seconds,
    ),
  );
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
}

interface TranscriptionFigures extends Figures {
  readonly name: string;
  readonly kind: Contender["kind"];
  readonly ratio: number;
}

export async function compareTranscription(
  options: Pick<TranscriptionBench, "sizeBytes" | "seconds" | "connections"> & {
    readonly gateways: readonly Gateway[];
  },
): Promise<readonly TranscriptionFigures[]> {
  const { sizeBytes, seconds, connections, gateways } = options;
  await using databases = gateways.some(({ engine }) => engine === "postgres") ? await startDatabases() : null;
  await using standIn = await startStandIn();
  await using opened = new AsyncDisposableStack();
  const workload = transcription(standIn.origin);
  const contenders = [...(await openOthers(opened, workload))];
  for (const gateway of gateways) contenders.push(await openGateway(opened, databases, workload, gateway));
  const load = uploading(sizeBytes, connections);
  for (const contender of contenders) await measured(contender, () => load(contender, WARM_UP_SECONDS));
  const figures = (await inTurns(contenders, seconds, load)).map(({ contender: { name, kind }, rounds }) => {
    return { name, kind, ...figuresOf(rounds) };
  });
  const bare = figures[0]?.perSecond ?? Number.NaN;
  return figures.map((each) => ({ ...each, ratio: round(each.perSecond / bare, 3) }));
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
