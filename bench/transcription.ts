// The gateway beside a bare forwarder, on the same stand-in with the same load, in alternating rounds: a busy machine slows
// both. Everything is on: keys, spool, hash, measuring, routing, reservation and settlement on disk.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startPostgresServer } from "../test/harness/postgres-server.ts";
import type { LoadResult } from "./load-generator.ts";
import {
  cpuMsOf,
  type GatewayOptions,
  KEY,
  nameOf,
  type Running,
  runLoad,
  startForwarder,
  startPatchbay,
  startStandIn,
} from "./processes.ts";
import { type ProfileSummary, shareTable, summarise, type Window } from "./profile-summary.ts";
import { median, quantile, type Report, round } from "./report.ts";
import { SEED } from "./wav.ts";

export interface TranscriptionBench {
  readonly sizeBytes: number;
  readonly seconds: number;
  readonly connections: number;
  readonly engine: "pglite" | "postgres";
  readonly processes: number;
}

const ROUNDS = 3;
/** Each process compiles what it runs often, once it has run it often. */
const WARM_UP_SECONDS = 4;
const PROFILE_SECONDS = 4;
const MOST_REQUESTS = 20_000;
const WAV_HEADER_BYTES = 44;
const TARGET_RATIO = 0.5;

interface Round extends LoadResult {
  readonly cpuMs: number;
}

export async function benchTranscription(options: TranscriptionBench): Promise<Report> {
  const postgres = options.engine === "postgres" ? await startPostgresServer() : null;
  const profileDir = await mkdtemp(join(tmpdir(), "patchbay-profile-"));
  try {
    await using standIn = await startStandIn();
    const target = { providerUrl: standIn.origin, databaseUrl: postgres?.url ?? null, processes: options.processes };
    const [bare, patchbay] = await compare(options, standIn, target);
    const window = await runProfiled(options, { ...target, processes: 1, profileDir });
    return report(options, bare, patchbay, summarise(profileDir, window), window.requests);
  } finally {
    await postgres?.stop();
    await rm(profileDir, { recursive: true, force: true });
  }
}

async function compare(
  options: TranscriptionBench,
  standIn: Running,
  target: GatewayOptions,
): Promise<readonly [readonly Round[], readonly Round[]]> {
  await using forwarder = await startForwarder(standIn.origin);
  await using gateway = await startPatchbay(target);
  const bare: Round[] = [];
  const patchbay: Round[] = [];
  for (const running of [forwarder, gateway]) await load(options, running, WARM_UP_SECONDS);
  for (let turn = 0; turn < ROUNDS; turn += 1) {
    bare.push(await load(options, forwarder, options.seconds / ROUNDS));
    patchbay.push(await load(options, gateway, options.seconds / ROUNDS));
  }
  return [bare, patchbay];
}

/** Once to warm it up, once within the answered window. */
async function runProfiled(
  options: TranscriptionBench,
  target: GatewayOptions,
): Promise<Window & { readonly requests: number }> {
  // The profile is written as the process ends, so it has ended when this returns.
  await using running = await startPatchbay(target);
  await load(options, running, WARM_UP_SECONDS);
  const fromUs = nowUs();
  const { requests } = await load(options, running, PROFILE_SECONDS);
  return { fromUs, toUs: nowUs(), requests };
}

function nowUs(): number {
  return Number(process.hrtime.bigint() / 1000n);
}

async function load(options: TranscriptionBench, { origin, pid }: Running, seconds: number): Promise<Round> {
  const { connections, sizeBytes } = options;
  const before = cpuMsOf(pid);
  const result = await runLoad({
    origin,
    request: { kind: "upload", path: "/v1/transcription", fileBytes: sizeBytes + WAV_HEADER_BYTES },
    connections,
    seconds,
    maxRequests: MOST_REQUESTS,
    key: KEY,
  });
  if (result.firstFault !== null) throw new Error(`An answer was not a 200: ${result.firstFault}`);
  return { ...result, cpuMs: cpuMsOf(pid) - before };
}

function figures(rounds: readonly Round[]) {
  const latencies = rounds.flatMap((each) => each.latenciesMs);
  const requests = rounds.reduce((sum, each) => sum + each.requests, 0);
  return {
    n: requests,
    requestsPerSecond: round(median(rounds.map((each) => each.requests / each.seconds)), 1),
    rounds: rounds.map((each) => round(each.requests / each.seconds, 1)),
    p50Ms: round(quantile(latencies, 0.5), 1),
    p99Ms: round(quantile(latencies, 0.99), 1),
    cpuMsPerRequest: round(rounds.reduce((sum, each) => sum + each.cpuMs, 0) / requests, 2),
  };
}

function report(
  options: TranscriptionBench,
  bareRounds: readonly Round[],
  patchbayRounds: readonly Round[],
  profile: ProfileSummary,
  profiledRequests: number,
): Report {
  const bare = figures(bareRounds);
  const patchbay = figures(patchbayRounds);
  const ratio = round(patchbay.requestsPerSecond / bare.requestsPerSecond, 2);
  const row = (name: string, each: typeof bare) => ({
    "": name,
    "requests/s (median)": each.requestsPerSecond,
    rounds: each.rounds.join(", "),
    n: each.n,
    "p50 ms": each.p50Ms,
    "p99 ms": each.p99Ms,
    "CPU ms/request": each.cpuMsPerRequest,
  });
  return {
    name: "transcription",
    rows: [row("bare forwarder", bare), row(nameOf(options), patchbay)],
    notes: [
      `ratio ${ratio} (target ${TARGET_RATIO}: ${ratio >= TARGET_RATIO ? "met" : "MISSED"}); CPU is the gateway process alone, all its threads`,
      `${options.connections} connections, ${options.sizeBytes} bytes of audio each, ${ROUNDS} rounds of ${round(options.seconds / ROUNDS, 1)} s`,
      `where the time goes (a further run of ${profiledRequests} requests under the profiler, all threads):\n\n${shareTable(profile.rooms, profiledRequests)}\n\n${shareTable(profile.functions, profiledRequests)}`,
    ],
    data: { ...options, seed: SEED, ratio, bare, patchbay, profiledRequests, profile },
  };
}
