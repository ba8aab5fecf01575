// R15: callers disconnect at each point N times. The provider's connection is closed within 250 ms, no other target is called, and the usage row is written.
import { setTimeout as wait } from "node:timers/promises";
import type { TestGateway } from "../../harness/gateway.ts";
import { seeded, shuffled } from "../seeded.ts";
import { type Point, POINTS, type Way } from "./points.ts";
import { startSetting } from "./setting.ts";

export interface HangUpOptions {
  readonly n: number;
  readonly seed: number;
  /** Maximum delay between the caller's disconnection and the provider's. Default: the guaranteed one. */
  readonly limitMs?: number;
}

const LIMIT_MS = 250;
/** A caller disconnects at a random moment of a wait. */
const MOST_JITTER_MS = 5;

export async function runHangUps({ n, seed, limitMs = LIMIT_MS }: HangUpOptions) {
  const started = performance.now();
  const random = seeded(seed);
  const violations: string[] = [];
  const took = new Map<Way, number[]>();
  const gateway = await startSetting();
  try {
    // The first run of each point warms up the process.
    for (const point of POINTS) await runNamed(gateway, point, 0);
    for (let round = 1; round <= n; round += 1) {
      for (const point of shuffled(POINTS, random)) {
        const { ms, found, where } = await runNamed(gateway, point, random() * MOST_JITTER_MS);
        took.set(point.way, [...(took.get(point.way) ?? []), ms]);
        const late = ms > limitMs ? [`${ms.toFixed(1)} ms until the provider saw it (${where})`] : [];
        violations.push(...[...late, ...found].map((text) => `${point.way}, ${point.name} #${round}: ${text}`));
      }
    }
  } finally {
    await gateway.close();
  }
  const seconds = (performance.now() - started) / 1000;
  const figures = Object.fromEntries([...took].map(([way, all]) => [`${way}, ms`, summary(all)]));
  return { engine: "postgres", n: n * POINTS.length, violations, seconds, figures };
}

function summary(all: readonly number[]): string {
  const sorted = all.toSorted((one, other) => one - other);
  const at = (share: number): string => (sorted[Math.ceil(sorted.length * share) - 1] ?? 0).toFixed(1);
  return `median ${at(0.5)}, p95 ${at(0.95)}, longest ${at(1)} (${sorted.length} trials)`;
}

interface Trial {
  /** From the caller's disconnection to the provider's. */
  readonly ms: number;
  /** Where the time was spent: gateway, provider and caller are one process. */
  readonly where: string;
  readonly found: readonly string[];
}

/** Adds the point to the error of a failed trial. */
async function runNamed(gateway: TestGateway, point: Point, jitterMs: number): Promise<Trial> {
  try {
    return await runTrial(gateway, point, jitterMs);
  } catch (error) {
    const observedCalls = gateway.sandbox.calls.map(({ method, path, outcome, aborted }) => [
      method,
      path,
      outcome,
      aborted,
    ]);
    throw new Error(`${point.way}, ${point.name}: ${JSON.stringify(observedCalls)}`, { cause: error });
  }
}

async function runTrial(gateway: TestGateway, point: Point, jitterMs: number): Promise<Trial> {
  const { sandbox } = gateway;
  await gateway.app.settled();
  await gateway.database.db.deleteFrom("attempts").execute();
  sandbox.clearCalls();
  sandbox.clearFaults();
  for (const fault of point.faults) sandbox.addFault(fault);
  const caller = await point.begin(gateway);
  await wait(jitterMs);
  const callsBefore = sandbox.callCount;
  const timeSince = stopwatch();
  caller.vanish();
  if (point.isBeforeCall !== true) await sandbox.waitForCall(point.isStopped ?? (({ aborted }) => aborted));
  const { ms, where } = timeSince();
  const rows = await settledAttempts(gateway);
  const found: string[] = [];
  const isWritten = rows.every(({ state }) => state === "settled") && rows.some(isOfHangUp);
  if (!isWritten)
    found.push(`usage rows: ${rows.map(({ state, outcome }) => `${state} ${outcome}`).join(", ") || "none"}`);
  if (point.isBeforeCall === true && rows.some(({ charge_nano_usd: charge }) => charge !== 0n))
    found.push("what no provider was asked for is charged");
  // A polled provider is asked to delete its copy.
  const later = sandbox.calls.slice(callsBefore).filter(({ method }) => method !== "DELETE").length;
  if (later > 0) found.push(`${later} calls after the caller was gone`);
  return { ms, where, found };
}

/** Late work shows as processor time, late waiting as an idle loop; a busy loop without processor time is the machine's. */
function stopwatch(): () => Pick<Trial, "ms" | "where"> {
  const [from, used, loop] = [performance.now(), process.cpuUsage(), performance.eventLoopUtilization()];
  return () => {
    const { active } = performance.eventLoopUtilization(loop);
    const { user, system } = process.cpuUsage(used);
    const where = `loop busy ${active.toFixed(1)} ms, on a processor ${((user + system) / 1000).toFixed(1)} ms`;
    return { ms: performance.now() - from, where };
  };
}

const PATIENCE_MS = 10_000;

/** Excludes a target that failed before, and slices of live audio that were sent completely, which have ended well. */
const isOfHangUp = ({ outcome }: { readonly outcome: string | null }): boolean => outcome === "aborted";

/** Their state when the aborted one is settled, or after a timeout. */
async function settledAttempts({ app, database }: TestGateway) {
  for (const until = performance.now() + PATIENCE_MS; ; ) {
    await app.settled();
    const rows = await database.db.selectFrom("attempts").select(["state", "outcome", "charge_nano_usd"]).execute();
    const isSettled = rows.every(({ state }) => state === "settled") && rows.some(isOfHangUp);
    if (isSettled || performance.now() > until) return rows;
    await new Promise((resolve) => setImmediate(resolve));
  }
}
