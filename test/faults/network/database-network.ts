// The network between gateways and their PostgreSQL drops connections silently, resets, cuts, delays and trickles [storage.broken-connection]. No call is
// repeated, answers never change, and within five seconds of the network's recovery the gateway has recovered.
import { setTimeout as wait } from "node:timers/promises";
import { quantile } from "../../../bench/measure/report.ts";
import type { Sandbox } from "../../../sandbox/server.ts";
import type { ConfigurationFile } from "../../../src/config/schema/file.ts";
import { type FaultProxy, type NetworkFault, startFaultProxy } from "../../harness/fault-proxy.ts";
import { askHttp } from "../ask-http.ts";
import type { FaultOptions, Trials } from "../fault.ts";
import { startGateways } from "../gateways.ts";
import { askKeyed, createKeyHistory, untilSettled } from "../keyed-requests.ts";
import { seeded } from "../seeded.ts";
import { oneApp } from "../one-app.ts";

const SECRET = "faults-key-of-the-network-app-01";
const EPISODES: readonly { readonly fault: NetworkFault; readonly ms: number }[] = [
  { fault: { kind: "reset" }, ms: 3_000 },
  { fault: { kind: "cut", way: "back", afterBytes: 700 }, ms: 1_500 },
  { fault: { kind: "cut", way: "there", afterBytes: 700 }, ms: 1_500 },
  { fault: { kind: "delay", ms: 40 }, ms: 3_000 },
  { fault: { kind: "trickle" }, ms: 3_000 },
  { fault: { kind: "half-open" }, ms: 20_000 },
];
const REQUESTS = 12;
const SYNC_TIMEOUT_SECONDS = 6;
/** Longest wait for a silent database. */
const LONGEST_ANSWER_MS = 12_000;
const RECOVERY_MS = 5_000;
const SETTLE_MS = 60_000;
const POLL_MS = 100;

export async function runDatabaseNetwork({ n, seed, say }: FaultOptions): Promise<Trials> {
  const started = performance.now();
  const random = seeded(seed);
  const proxies: FaultProxy[] = [];
  await using resources = new AsyncDisposableStack();
  const gateways = await startGateways(configuration, {
    count: 2,
    databaseUrl: async (url) => {
      const proxy = await startFaultProxy(url);
      proxies.push(proxy);
      return proxy.url;
    },
  });
  resources.defer(async () => {
    for (const proxy of proxies) proxy.clear();
    await gateways[Symbol.asyncDispose]();
    for (const proxy of proxies) await proxy.close();
  });
  const { origins, sandbox } = gateways;
  const history = createKeyHistory();
  const violations: string[] = [];
  const recoveries: number[] = [];
  const slowest = new Map<string, number>();
  for (let episode = 0; episode < n; episode += 1) {
    const current = EPISODES[episode % EPISODES.length];
    if (current === undefined) throw new Error("there is no episode");
    const { fault, ms } = current;
    // The connection of one gateway to the database, or of all.
    const concerned = random() < 0.5 ? proxies.slice(0, 1) : proxies;
    for (const proxy of concerned) proxy.set(fault);
    const names = Array.from({ length: REQUESTS }, (_, index) => `database-${seed}-${episode}-${index}`);
    const asking = Promise.all(
      names.map(async (name, index) => {
        await wait(random() * ms);
        const askedMs = performance.now();
        history.add(name, await askKeyed(origins[index % origins.length] ?? "", { name, secret: SECRET }));
        const tookMs = performance.now() - askedMs;
        slowest.set(fault.kind, Math.max(slowest.get(fault.kind) ?? 0, tookMs));
        if (tookMs > LONGEST_ANSWER_MS)
          violations.push(`${name}: ${fault.kind}: answered after ${tookMs.toFixed(0)} ms`);
      }),
    );
    await wait(ms);
    for (const proxy of concerned) proxy.clear();
    const recoveryMs = await untilServing(origins);
    recoveries.push(recoveryMs);
    if (recoveryMs > RECOVERY_MS)
      violations.push(`episode ${episode}: ${fault.kind}: serving again after ${recoveryMs.toFixed(0)} ms`);
    await asking;
    violations.push(...(await untilSettled(history, names, { origins, secret: SECRET })));
    say(`episode ${episode + 1} of ${n}, ${violations.length} violations`);
  }
  violations.push(...history.faults(sandbox));
  const { keys, served, unavailable } = history.counts();
  return {
    engine: "postgres",
    n,
    violations,
    seconds: (performance.now() - started) / 1000,
    figures: {
      keys: `${keys}, of them ${served} answered, ${unavailable} of unknown outcome`,
      "serving again": `p50 ${quantile(recoveries, 0.5).toFixed(0)} ms, at most ${Math.max(...recoveries).toFixed(0)} ms (bound ${RECOVERY_MS})`,
      "slowest answer": [...slowest].map(([kind, ms]) => `${kind} ${ms.toFixed(0)} ms`).join(", "),
    },
  };
}

/** Time until every gateway serves a request that needs the database. */
async function untilServing(origins: readonly string[]): Promise<number> {
  const startedMs = performance.now();
  const serves = async (origin: string): Promise<void> => {
    for (;;) {
      const { status } = await askHttp(origin, false, {
        method: "GET",
        path: "/v1/requests/req_00000000000000000000000000",
        headers: { authorization: `Bearer ${SECRET}` },
      });
      // 404 is an answer from the database: there is no such request.
      if (status === 404) return;
      if (performance.now() - startedMs > SETTLE_MS) return;
      await wait(POLL_MS);
    }
  };
  await Promise.all(origins.map(serves));
  return performance.now() - startedMs;
}

function configuration(sandbox: Sandbox): ConfigurationFile {
  return oneApp(sandbox, SECRET, { sync_timeout_seconds: SYNC_TIMEOUT_SECONDS });
}
