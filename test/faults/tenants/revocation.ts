// R10: keys are revoked or expire under 200 requests per second on three gateways; in half of the trials the notification is suppressed, as if it were lost
// (p99 within 1 s, never beyond 5 s) [keys.revoke-bound].
import { setTimeout as wait } from "node:timers/promises";
import { sql } from "kysely";
import { quantile } from "../../../bench/measure/report.ts";
import { announceChange } from "../../../src/storage/connection/announce.ts";
import type { FaultOptions, Trials } from "../fault.ts";
import { seeded, shuffled } from "../seeded.ts";
import { GATEWAYS, type Gateways, startGateways } from "../gateways.ts";

const REQUESTS_PER_SECOND = 200;
const TICK_MS = 10;
const HARD_BOUND_MS = 5_000;
const USUAL_BOUND_MS = 1_000;
/** Keys revoked at the same moment: few if the time is short, so that each is tested often. */
const WAVE = { announced: 2, lost: 10 };
const WARM_MS = 500;
/** The wave is over once every gateway has refused for so long. */
const SETTLED_MS = 300;

interface Key {
  readonly name: string;
  readonly secret: string;
}

/** One key on one gateway. */
interface Pair {
  /** Milliseconds after the commit of the change; 0: never accepted again. */
  acceptedMs: number;
  refusedMs: number | null;
}

export async function runRevocation({ n, seed }: Pick<FaultOptions, "n" | "seed">): Promise<Trials> {
  const started = performance.now();
  const random = seeded(seed);
  const keys = shuffled(
    Array.from({ length: n }, (_, index) => ({
      name: `key-${index}`,
      secret: `faults-key-${seed}-${String(index).padStart(6, "0")}-abcdefgh`,
    })),
    random,
  );
  await using gateways = await startGateways(({ deepgramUrl }) => ({
    connections: [{ id: "dg", kind: "deepgram", api_key: "secret", base_url: deepgramUrl }],
    routes: [{ id: "speech", targets: [{ connection: "dg", model: "nova-3" }] }],
    workspaces: [
      {
        id: "acme",
        apps: [
          {
            id: "notes",
            route: "speech",
            keys: keys.map(({ name, secret }) => ({ id: name, name, secret, scopes: ["transcribe" as const] })),
          },
        ],
      },
    ],
  }));
  const violations: string[] = [];
  const middle = Math.ceil(keys.length / 2);
  const announced = await runWaves(gateways, keys.slice(0, middle), { isAnnounced: true, violations });
  const lost = await runWaves(gateways, keys.slice(middle), { isAnnounced: false, violations });
  const p99 = quantile(announced, 0.99);
  if (p99 > USUAL_BOUND_MS) violations.push(`p99 with notifications ${p99.toFixed(0)} ms`);
  return {
    engine: "postgres",
    n,
    violations,
    seconds: (performance.now() - started) / 1000,
    figures: { ...figuresOf("announced", announced), ...figuresOf("notification lost", lost) },
  };
}

function figuresOf(name: string, times: readonly number[]): Readonly<Record<string, string>> {
  const ms = (value: number) => `${value.toFixed(0)} ms`;
  return {
    [name]: `${times.length} pairs of key and gateway, last accepted after p50 ${ms(quantile(times, 0.5))}, p99 ${ms(quantile(times, 0.99))}, worst ${ms(Math.max(0, ...times))}`,
  };
}

interface WaveOptions {
  readonly isAnnounced: boolean;
  readonly violations: string[];
}

async function runWaves(gateways: Gateways, keys: readonly Key[], options: WaveOptions): Promise<readonly number[]> {
  const size = options.isAnnounced ? WAVE.announced : WAVE.lost;
  const times: number[] = [];
  for (let from = 0; from < keys.length; from += size)
    times.push(...(await runWave(gateways, keys.slice(from, from + size), options)));
  return times;
}

async function runWave(
  gateways: Gateways,
  keys: readonly Key[],
  { isAnnounced, violations }: WaveOptions,
): Promise<readonly number[]> {
  const pairs = new Map<string, Pair>();
  let committedMs = Number.POSITIVE_INFINITY;
  const over = new AbortController();
  const load = keepAsking(gateways, keys, over.signal, ({ pair, status, answeredMs, sentMs }) => {
    const known = pairs.get(pair) ?? { acceptedMs: 0, refusedMs: null };
    pairs.set(pair, known);
    if (status === 200 && answeredMs > committedMs) {
      known.acceptedMs = Math.max(known.acceptedMs, answeredMs - committedMs);
      // Sent after a refusal, and accepted.
      if (known.refusedMs !== null && sentMs > known.refusedMs) violations.push(`${pair}: let in after a refusal`);
    } else if (status === 401) known.refusedMs ??= answeredMs;
    else if (status !== 200) violations.push(`${pair}: ${status}`);
  });
  await wait(WARM_MS);
  await change(gateways, keys, isAnnounced);
  committedMs = performance.now();
  const lastMs = committedMs + 2 * HARD_BOUND_MS;
  const isRefused = ({ refusedMs }: Pair) => refusedMs !== null;
  while (performance.now() < lastMs && !(pairs.size === keys.length * GATEWAYS && [...pairs.values()].every(isRefused)))
    await wait(TICK_MS);
  await wait(SETTLED_MS);
  over.abort();
  await load;
  for (const [pair, { acceptedMs, refusedMs }] of pairs)
    if (refusedMs === null || acceptedMs > HARD_BOUND_MS)
      violations.push(`${pair}: let in ${acceptedMs.toFixed(0)} ms after it was taken back`);
  return [...pairs.values()].map(({ acceptedMs }) => acceptedMs);
}

/** Every other one expires instead. */
async function change({ database }: Gateways, keys: readonly Key[], isAnnounced: boolean): Promise<void> {
  await database.transaction(async (tx) => {
    for (const [index, { name }] of keys.entries()) {
      const facts =
        index % 2 === 0 ? { revoked_at: sql<Date>`patchbay_now()` } : { expires_at: sql<Date>`patchbay_now()` };
      await tx.updateTable("api_keys").set(facts).where("name", "=", name).execute();
    }
    if (isAnnounced) await announceChange(tx, "keys", "several");
  });
}

interface Asked {
  readonly pair: string;
  readonly status: number;
  readonly sentMs: number;
  readonly answeredMs: number;
}

/** At a fixed rate, independent of the answers. */
async function keepAsking(
  { origins }: Gateways,
  keys: readonly Key[],
  signal: AbortSignal,
  onAnswer: (asked: Asked) => void,
): Promise<void> {
  const running = new Set<Promise<void>>();
  const startedMs = performance.now();
  let sentCount = 0;
  const ask = async (key: Key, gateway: number): Promise<void> => {
    const sentMs = performance.now();
    const headers = { authorization: `Bearer ${key.secret}` };
    // A kept connection may end while the next request is in transit: that is neither an acceptance nor a refusal.
    const answer = await fetch(`${origins[gateway]}/v1/me`, { headers }).catch(() => null);
    const answeredMs = performance.now();
    await answer?.arrayBuffer();
    const pair = `${key.name} on gateway ${gateway + 1}`;
    if (answer !== null) onAnswer({ pair, status: answer.status, sentMs, answeredMs });
  };
  while (!signal.aborted) {
    const dueCount = ((performance.now() - startedMs) * REQUESTS_PER_SECOND) / 1000;
    for (; sentCount < dueCount; sentCount += 1) {
      const key = keys[Math.floor(sentCount / GATEWAYS) % keys.length];
      if (key === undefined) throw new Error("there is no key");
      const asking: Promise<void> = ask(key, sentCount % GATEWAYS).finally(() => running.delete(asking));
      running.add(asking);
    }
    await wait(TICK_MS);
  }
  await Promise.all(running);
}
