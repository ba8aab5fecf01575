// 64 connections send random keys with a valid checksum to one gateway with embedded storage and one on a server: all are refused with 401, all other callers
// are served, and the median duration of a transcription at most doubles.
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { quantile } from "../../../bench/measure/report.ts";
import { startSandbox } from "../../../sandbox/server.ts";
import { postForm } from "../../harness/client.ts";
import { wav } from "../../audio/build-audio.ts";
import type { FaultOptions, Trials } from "../fault.ts";
import { startGateways } from "../gateways.ts";
import { createPatchbayProcess } from "../jobs/patchbay-process.ts";
import { oneApp } from "../one-app.ts";

const CONNECTIONS = 64;
const KEY = "faults-key-of-an-app-that-works-01";
const WARM_REQUESTS = 50;
const PAUSE_MS = 20;
/** Until all connections of the attackers are open. */
const CROWD_MS = 1_000;
const MOST_TIMES = 2;
/** Below this, a median is not judged by its ratio, because the machine's own noise is as large. */
const NOISE_MS = 2;

interface Measured {
  readonly before: readonly number[];
  readonly during: readonly number[];
  readonly statuses: Readonly<Record<string, number>>;
  readonly guessedPerSecond: number;
}

export async function runUnknownKeys({ n, isShort, say }: Omit<FaultOptions, "seed" | "workers">): Promise<Trials> {
  const started = performance.now();
  const violations: string[] = [];
  const figures: Record<string, string> = {};
  for (const [engine, start] of [
    ["embedded", startEmbedded],
    ["postgres", startOnServer],
  ] as const) {
    await using gateway = await start();
    const medians = await measure(gateway.origin, n, violations, (done) => say(`${engine} ${done}/${2 * n}`));
    figures[engine] = judge(engine, medians, isShort, violations);
  }
  return { engine: "both", n, violations, seconds: (performance.now() - started) / 1000, figures };
}

interface Opened extends AsyncDisposable {
  readonly origin: string;
}

async function startOnServer(): Promise<Opened> {
  const gateways = await startGateways((sandbox) => oneApp(sandbox, KEY), { count: 1 });
  return { origin: gateways.origins[0] ?? "", [Symbol.asyncDispose]: () => gateways[Symbol.asyncDispose]() };
}

async function startEmbedded(): Promise<Opened> {
  await using opened = new AsyncDisposableStack();
  const sandbox = await startSandbox();
  opened.defer(() => sandbox.close());
  const folder = await mkdtemp(join(tmpdir(), "patchbay-unknown-keys-"));
  opened.defer(() => rm(folder, { recursive: true, force: true }));
  const configFile = join(folder, "patchbay.yaml");
  const server = { host: "127.0.0.1", port: 0, admin: null };
  await writeFile(
    configFile,
    JSON.stringify({ ...oneApp(sandbox, KEY), server, storage: { data_dir: join(folder, "data") } }),
  );
  const gateway = createPatchbayProcess({ name: "gateway", command: "up", configFile, folder });
  opened.defer(() => gateway.kill());
  await gateway.start();
  const owned = opened.move();
  return { origin: gateway.origin ?? "", [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

async function measure(
  origin: string,
  n: number,
  violations: string[],
  onRequest: (done: number) => void,
): Promise<Measured> {
  let done = 0;
  const file = wav(1);
  const ask = async (): Promise<number> => {
    await wait(PAUSE_MS);
    const fromMs = performance.now();
    const { status, code } = await postForm(origin, { key: KEY, file });
    const tookMs = performance.now() - fromMs;
    if (status !== 200) violations.push(`a valid key: ${status} ${code}`);
    done += 1;
    onRequest(done);
    return tookMs;
  };
  const askTimes = async (count: number): Promise<readonly number[]> => {
    const times: number[] = [];
    for (let index = 0; index < count; index += 1) times.push(await ask());
    return times;
  };
  await askTimes(WARM_REQUESTS);
  done = 0;
  const before = await askTimes(n);
  const crowd = new Worker(new URL("key-guesser.ts", import.meta.url), {
    workerData: { origin, connections: CONNECTIONS },
  });
  const fromMs = performance.now();
  await wait(CROWD_MS);
  const during = await askTimes(n);
  const crowdReport = once(crowd, "message");
  crowd.postMessage("stop");
  const [statuses] = (await crowdReport) as [Readonly<Record<string, number>>];
  const seconds = (performance.now() - fromMs) / 1000;
  await crowd.terminate();
  const guesses = Object.values(statuses).reduce((sum, count) => sum + count, 0);
  return { before, during, statuses, guessedPerSecond: guesses / seconds };
}

function judge(engine: string, medians: Measured, isShort: boolean, violations: string[]): string {
  const { before, during, statuses, guessedPerSecond } = medians;
  for (const [status, count] of Object.entries(statuses))
    if (status !== "401") violations.push(`${engine}: ${count} unknown keys were answered ${status}`);
  if (statuses["401"] === undefined) violations.push(`${engine}: no unknown key was answered`);
  const [beforeMs, duringMs] = [quantile(before, 0.5), quantile(during, 0.5)];
  const ratio = duringMs / beforeMs;
  if (!isShort && ratio > MOST_TIMES && duringMs - beforeMs > NOISE_MS)
    violations.push(`${engine}: the median rose ${ratio.toFixed(1)} times, to ${duringMs.toFixed(1)} ms`);
  return `p50 ${beforeMs.toFixed(1)} ms before, ${duringMs.toFixed(1)} ms during (${ratio.toFixed(2)} times), p99 ${quantile(before, 0.99).toFixed(1)} and ${quantile(during, 0.99).toFixed(1)} ms, ${guessedPerSecond.toFixed(0)} unknown keys a second`;
}
