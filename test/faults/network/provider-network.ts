// The network between a gateway and its provider resets, cuts either direction at random bytes, drops silently, delays and trickles. In every case a request
// ends by its deadline, a key leads to at most one call, and an answer is complete and never changes (R1, R2).
import { startSandbox } from "../../../sandbox/server.ts";
import { type NetworkFault, startFaultProxy } from "../../harness/fault-proxy.ts";
import { KEY, neverResting, standardFile, startGateway } from "../../harness/gateway.ts";
import type { FaultOptions, Trials } from "../fault.ts";
import { askKeyed, createKeyHistory, untilSettled } from "../keyed-requests.ts";
import { seeded } from "../seeded.ts";

const SYNC_TIMEOUT_SECONDS = 3;
/** The deadline plus transport. */
const LONGEST_ANSWER_MS = (SYNC_TIMEOUT_SECONDS + 2) * 1_000;
const AT_ONCE = 8;
/** The request is about 17 kB, the reply about one. */
const REQUEST_BYTES = 18_000;
const REPLY_BYTES = 1_200;
const KEPT_CALLS = 1_000_000;

export async function runProviderNetwork({ n, seed, say }: FaultOptions): Promise<Trials> {
  const started = performance.now();
  const random = seeded(seed);
  await using resources = new AsyncDisposableStack();
  const sandbox = await startSandbox({ keepCalls: KEPT_CALLS });
  resources.defer(() => sandbox.close());
  const proxy = await startFaultProxy(sandbox.deepgramUrl);
  resources.defer(() => proxy.close());
  const gateway = await startGateway({
    file: (own) => ({
      ...standardFile(own),
      limits: { sync_timeout_seconds: SYNC_TIMEOUT_SECONDS },
      connections: [{ id: "dg", kind: "deepgram", api_key: "secret", base_url: proxy.url }],
      routes: [{ id: "speech", targets: [{ connection: "dg", model: "nova-3" }] }],
    }),
    wrapGateway: neverResting,
  });
  resources.defer(() => gateway.close());

  const draw = (round: number): NetworkFault => {
    const faults: readonly NetworkFault[] = [
      { kind: "cut", way: "there", afterBytes: Math.floor(random() * REQUEST_BYTES) },
      { kind: "cut", way: "back", afterBytes: Math.floor(random() * REPLY_BYTES) },
      { kind: "reset" },
      { kind: "delay", ms: Math.floor(random() * 200) },
      { kind: "cut", way: "back", afterBytes: Math.floor(random() * REPLY_BYTES) },
      { kind: "trickle" },
      { kind: "half-open" },
    ];
    return faults[round % faults.length] ?? { kind: "reset" };
  };
  const history = createKeyHistory();
  const violations: string[] = [];
  const outcomes = new Map<string, number>();
  for (let first = 0, round = 0; first < n; first += AT_ONCE, round += 1) {
    const fault = draw(round);
    proxy.set(fault);
    const names = Array.from(
      { length: Math.min(AT_ONCE, n - first) },
      (_, index) => `provider-${seed}-${first + index}`,
    );
    await Promise.all(
      names.map(async (name) => {
        const askedMs = performance.now();
        const answer = await askKeyed(gateway.origin, { name, secret: KEY });
        history.add(name, answer);
        const tookMs = performance.now() - askedMs;
        if (tookMs > LONGEST_ANSWER_MS)
          violations.push(`${name}: ${fault.kind}: answered after ${tookMs.toFixed(0)} ms`);
        const outcome = `${fault.kind} ${answer.status ?? "no answer"}`;
        outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
        if (answer.status === null) violations.push(`${name}: ${fault.kind}: ${answer.text}`);
      }),
    );
    proxy.clear();
    violations.push(...(await untilSettled(history, names, { origins: [gateway.origin], secret: KEY })));
    say(`${first + names.length} of ${n}, ${violations.length} violations`);
  }
  violations.push(...history.faults(sandbox));
  const { served, unavailable } = history.counts();
  return {
    engine: "postgres",
    n,
    violations,
    seconds: (performance.now() - started) / 1000,
    figures: {
      "first answers": [...outcomes].map(([outcome, count]) => `${outcome}: ${count}`).join(", "),
      "in the end": `${served} answered, ${unavailable} of unknown outcome`,
    },
  };
}
