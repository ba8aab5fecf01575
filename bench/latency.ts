// Measures what a plain chat waits for: the delay added to a provider that answers after 20 ms, and the throughput frontier, which is the most requests per
// second at which p99 stays below a limit. All contenders get the same load in alternating rounds.
import { chatting } from "./chat.ts";
import { startDatabases } from "./measure/databases.ts";
import { startChatStandIn } from "./measure/processes.ts";
import { type Report, round } from "./measure/report.ts";
import {
  BARE,
  chat,
  type Contender,
  type Engine,
  type Figures,
  figuresOf,
  inTurns,
  openGateway,
  openOthers,
  type Round,
} from "./upstream/contenders.ts";

export interface LatencyBench {
  /** Of load for each contender and number of connections. */
  readonly seconds: number;
  readonly connections: readonly number[];
  readonly engines: readonly Engine[];
}

/** Without CPU times: they would include the warm-up of each round. */
interface Measured extends Omit<Figures, "cpuMs" | "databaseCpuMs"> {
  readonly name: string;
  readonly kind: Contender["kind"];
  readonly connections: number;
}

export interface AddedDelay extends Measured {
  readonly addedP50Ms: number;
  readonly addedP99Ms: number;
  /** Null: no goal for this contender or number of connections. */
  readonly goals: Goals | null;
}

export interface Frontier {
  readonly name: string;
  /** For each of `FRONTIER_P99_MS`. Null: p99 is above the limit with every number of connections. */
  readonly perSecond: readonly (number | null)[];
}

interface Goals {
  readonly p50Ms: number;
  readonly p99Ms: number;
}

const PROVIDER_MS = 20;
const WARM_UP_SECONDS = 6;
const ROUNDS = 4;
/** The frontier has thousands of requests per second, so that a p99 takes less time. */
const FRONTIER_ROUNDS = 3;
const FRONTIER_SHARE = 0.5;
/** Of a round, before it counts. */
const ROUND_WARM_UP_SECONDS = 0.4;
/** With fewer, p99 would depend on one or two requests. */
const MIN_REQUESTS = 1_500;
export const DIRECT = "the provider directly";
const FRONTIER_CONNECTIONS = [1, 2, 4, 8, 16, 32, 64, 128, 256] as const;
export const FRONTIER_P99_MS = [5, 10, 50, 100] as const;
/** Added delay that is allowed: the bare forwarder's p50 and a fixed time, its p99 and a factor. */
const ALLOWED: Readonly<Record<number, { readonly p50Ms: number; readonly p99Times: number }>> = {
  1: { p50Ms: 0.6, p99Times: 2 },
  4: { p50Ms: 0.6, p99Times: 2 },
  16: { p50Ms: 0.8, p99Times: 2 },
  64: { p50Ms: 2, p99Times: 1.5 },
};

export async function benchLatency({ seconds, connections, engines }: LatencyBench): Promise<Report> {
  const delayed = await measureDelays({ seconds, connections, engines });
  const { frontier, frontiers } = await measureFrontier({ seconds, engines });
  return {
    name: "latency",
    rows: delayed.map((row) => ({
      "": row.name,
      connections: row.connections,
      n: row.n,
      "p50 ms": row.p50Ms,
      "p99 ms": row.p99Ms,
      "added p50 ms": row.addedP50Ms,
      "added p99 ms": row.addedP99Ms,
      "goal p50, p99": row.goals === null ? "" : `${row.goals.p50Ms}, ${row.goals.p99Ms}`,
      verdict: verdictOf(row),
    })),
    notes: [
      `the provider answers after ${PROVIDER_MS} ms, and says how long it took exactly, which is left out; added is the difference to the provider asked directly in the same ${ROUNDS} rounds; at least ${MIN_REQUESTS} requests of each`,
      ...frontiers.map(
        ({ name, perSecond }) =>
          `requests/s, ${name}: ${FRONTIER_P99_MS.map((limit, index) => `p99 ≤ ${limit} ms: ${perSecond[index] ?? "none"}`).join(", ")}`,
      ),
      `frontier: a provider that answers at once, ${FRONTIER_CONNECTIONS.join(", ")} connections, each with one request at a time, ${FRONTIER_ROUNDS} alternating rounds`,
    ],
    data: { seconds, connections, delayed, frontier, frontiers },
  };
}

export async function measureDelays(options: LatencyBench): Promise<readonly AddedDelay[]> {
  return addedDelays(await compare({ providerMs: PROVIDER_MS, rounds: ROUNDS, ...options }));
}

export async function measureFrontier({ seconds, engines }: Omit<LatencyBench, "connections">) {
  const frontier = await compare({
    providerMs: 0,
    seconds: seconds * FRONTIER_SHARE,
    connections: FRONTIER_CONNECTIONS,
    engines,
    rounds: FRONTIER_ROUNDS,
  });
  const names = [...new Set(frontier.map(({ name }) => name))];
  const frontiers: readonly Frontier[] = names.map((name) => ({
    name,
    perSecond: FRONTIER_P99_MS.map((limit) => mostBelow(limit, name)),
  }));
  return { frontier, frontiers };

  function mostBelow(limitMs: number, of: string): number | null {
    const within = frontier.filter(({ name, p99Ms }) => name === of && p99Ms <= limitMs);
    return within.length === 0 ? null : Math.max(...within.map(({ perSecond }) => perSecond));
  }
}

async function compare({
  providerMs,
  seconds,
  connections,
  engines,
  rounds,
}: LatencyBench & { readonly providerMs: number; readonly rounds: number }): Promise<readonly Measured[]> {
  await using databases = await startDatabases();
  await using standIn = await startChatStandIn(providerMs);
  await using resources = new AsyncDisposableStack();
  const workload = chat(standIn.origin);
  const direct: Contender = {
    name: DIRECT,
    kind: "other",
    origin: standIn.origin,
    path: workload.paths.provider,
    headers: {},
    pid: null,
    databasePid: null,
  };
  const isDelayed = providerMs > 0;
  const contenders = [...(isDelayed ? [direct] : []), ...(await openOthers(resources, workload))];
  for (const engine of engines)
    contenders.push(await openGateway(resources, databases, workload, { engine, processes: 1 }));
  const warmUp = chatting("plain", 16);
  await Promise.all(contenders.map((contender) => warmUp(contender, WARM_UP_SECONDS)));
  const results: Measured[] = [];
  for (const each of connections) {
    const load = chatting("plain", each, { warmUpSeconds: ROUND_WARM_UP_SECONDS, subtractsTook: isDelayed });
    const compared = await inTurns(contenders, secondsFor(seconds, each, providerMs), load, rounds);
    results.push(...compared.map((row) => measuredOf(each, row)));
  }
  return results;
}

/** One connection needs more time for the same number of requests. */
function secondsFor(seconds: number, connections: number, providerMs: number): number {
  // Most requests take less than a tenth longer than the provider.
  return Math.max(seconds, (MIN_REQUESTS * providerMs * 1.1) / connections / 1000);
}

function measuredOf(
  connections: number,
  { contender, rounds }: { readonly contender: Contender; readonly rounds: readonly Round[] },
): Measured {
  const { cpuMs: _cpuMs, databaseCpuMs: _databaseCpuMs, ...figures } = figuresOf(rounds);
  return { name: contender.name, kind: contender.kind, connections, ...figures };
}

function addedDelays(results: readonly Measured[]): readonly AddedDelay[] {
  const of = (wanted: string, connections: number): Measured => {
    const found = results.find((each) => each.name === wanted && each.connections === connections);
    if (found === undefined) throw new Error(`There is no result of ${wanted}.`);
    return found;
  };
  const added = (row: Measured): Goals => {
    const direct = of(DIRECT, row.connections);
    return { p50Ms: round(row.p50Ms - direct.p50Ms, 2), p99Ms: round(row.p99Ms - direct.p99Ms, 2) };
  };
  return results.map((row) => {
    const own = added(row);
    const bare = added(of(BARE, row.connections));
    const allowed = row.kind === "gateway" ? ALLOWED[row.connections] : undefined;
    const goals =
      allowed === undefined
        ? null
        : { p50Ms: round(bare.p50Ms + allowed.p50Ms, 2), p99Ms: round(Math.max(0, bare.p99Ms) * allowed.p99Times, 2) };
    return { ...row, addedP50Ms: own.p50Ms, addedP99Ms: own.p99Ms, goals };
  });
}

function verdictOf({ goals, addedP50Ms, addedP99Ms }: AddedDelay): string {
  if (goals === null) return "";
  const missed = [...(addedP50Ms <= goals.p50Ms ? [] : ["p50"]), ...(addedP99Ms <= goals.p99Ms ? [] : ["p99"])];
  return missed.length === 0 ? "met" : `MISSED: ${missed.join(", ")}`;
}
