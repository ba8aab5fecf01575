// Measures the latency of a transcription with idempotency key on PostgreSQL 18 and on the oldest supported server as distributed, in turns, so that a busy
// machine slows all alike.
import { randomUUID } from "node:crypto";
import { Agent } from "node:http";
import { askHttp } from "../test/faults/ask-http.ts";
import { oldestServerBin, OLDEST_MISSING } from "../test/harness/postgres/oldest-server.ts";
import { majorVersionOf, startPostgresServer } from "../test/harness/postgres/postgres-server.ts";
import { KEY, startPatchbay, startStandIn } from "./measure/processes.ts";
import { quantile, type Report, round } from "./measure/report.ts";
import { formAround, noiseWav } from "./upstream/wav.ts";

export interface KeyedLatencyBench {
  /** Of load, per server. */
  readonly seconds: number;
  readonly connections: number;
  /** Program folders of further servers. */
  readonly bins: readonly string[];
}

interface Contender {
  readonly name: string;
  readonly origin: string;
  readonly agent: Agent;
  readonly latenciesMs: number[];
}

const TURNS = 8;
/** Each process compiles hot code only after it has run often. */
const WARM_UP_SECONDS = 3;
const AUDIO_BYTES = 16_044;
const TARGET_RATIO = 1.3;
const FORM = formAround(noiseWav(AUDIO_BYTES));

export async function benchKeyedLatency({ seconds, connections, bins }: KeyedLatencyBench): Promise<Report> {
  await using resources = new AsyncDisposableStack();
  const standIn = resources.use(await startStandIn());
  const oldest = oldestServerBin();
  const contenders: Contender[] = [];
  for (const bin of [undefined, ...bins, ...(oldest === null ? [] : [oldest])])
    contenders.push(await open(resources, standIn.origin, bin, connections));
  for (const contender of contenders) await load(contender, WARM_UP_SECONDS, connections);
  for (const { latenciesMs } of contenders) latenciesMs.length = 0;
  for (let turn = 0; turn < TURNS; turn += 1)
    for (const contender of contenders) await load(contender, seconds / TURNS, connections);

  const newest = quantile(contenders[0]?.latenciesMs ?? [], 0.5);
  const results = contenders.map(({ name, latenciesMs }) => ({
    name,
    n: latenciesMs.length,
    p50Ms: round(quantile(latenciesMs, 0.5), 2),
    p95Ms: round(quantile(latenciesMs, 0.95), 2),
    p99Ms: round(quantile(latenciesMs, 0.99), 2),
    ratio: round(quantile(latenciesMs, 0.5) / newest, 3),
  }));
  const ratio = oldest === null ? null : (results.at(-1)?.ratio ?? Number.NaN);
  return {
    name: "keyed-latency",
    rows: results.map((each) => ({
      "": each.name,
      n: each.n,
      "p50 ms": each.p50Ms,
      "p95 ms": each.p95Ms,
      "p99 ms": each.p99Ms,
      "p50 ratio": each.ratio,
    })),
    notes: [
      ratio === null
        ? `no ratio: ${OLDEST_MISSING}`
        : `ratio ${ratio} of the oldest server's p50 (at most ${TARGET_RATIO}: ${ratio <= TARGET_RATIO ? "met" : "MISSED"})`,
      `${connections} connections, ${AUDIO_BYTES} bytes of audio each, an Idempotency-Key each, ${TURNS} turns of ${round(seconds / TURNS, 2)} s; commits reach the disk`,
    ],
    data: { seconds, connections, ratio, results },
  };
}

async function open(
  resources: AsyncDisposableStack,
  providerUrl: string,
  bin: string | undefined,
  connections: number,
): Promise<Contender> {
  const server = await startPostgresServer({ commits: "kept", bin });
  resources.defer(() => server.stop());
  const gateway = resources.use(await startPatchbay({ providerUrl, databaseUrl: server.url }));
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  resources.defer(() => agent.destroy());
  const name = bin === undefined ? "PostgreSQL 18, npm" : `PostgreSQL ${majorVersionOf(bin)}, ${bin}`;
  return { name, origin: gateway.origin, agent, latenciesMs: [] };
}

async function load({ name, origin, agent, latenciesMs }: Contender, seconds: number, connections: number) {
  const endMs = performance.now() + seconds * 1000;
  const loop = async (): Promise<void> => {
    while (performance.now() < endMs) {
      const sentMs = performance.now();
      const { status, text } = await askHttp(origin, agent, {
        method: "POST",
        path: "/v1/transcription",
        headers: { authorization: `Bearer ${KEY}`, "content-type": FORM.contentType, "idempotency-key": randomUUID() },
        body: FORM.body,
      });
      if (status !== 200) throw new Error(`${name}: an answer was no success: ${status} ${text}`);
      latenciesMs.push(performance.now() - sentMs);
    }
  };
  await Promise.all(Array.from({ length: connections }, loop));
}
