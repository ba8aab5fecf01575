// R1: kill -9 at each point of a keyed request, then a restart on the same database and a retry with the same key [idempotency.crash]. At most one provider
// call per key; charges equal completed answers.
import assert from "node:assert/strict";
import { type Answer, postForm } from "../harness/client.ts";
import { type FatalProvider, OUTER_POINTS, type OuterPoint, startFatalProvider } from "./fatal-provider.ts";
import { type GatewayProcess, startGatewayProcess } from "./gateway-process.ts";
import { type Facts, INNER_POINTS, type InnerPoint } from "./kill-protocol.ts";
import { seeded, shuffled } from "./seeded.ts";
import { makeSurvivingDatabase } from "./surviving-database.ts";

export const KILL_POINTS = [...INNER_POINTS, ...OUTER_POINTS] as const;
export type KillPoint = InnerPoint | OuterPoint;

/** Result of a retry after the restart. `runs`: nothing was dispatched, so the key is free and the retry makes the only call. */
type Fate = "runs" | "unavailable" | "replay";

const FATES: { readonly [P in KillPoint]: readonly Fate[] } = {
  "after-parse": ["runs"],
  "after-slot-insert": ["runs"],
  "before-dispatch-commit": ["runs"],
  "after-dispatch-commit": ["unavailable"],
  "on-connect": ["unavailable"],
  "half-body-received": ["unavailable"],
  "reply-headers-sent": ["unavailable"],
  // The whole answer is in transit: a fast process may have committed it before the signal arrives.
  "reply-body-sent": ["unavailable", "replay"],
  "before-settle-commit": ["unavailable"],
  "after-settle-commit": ["replay"],
};

export interface KillReport {
  readonly engine: string;
  readonly n: number;
  readonly violations: readonly string[];
  readonly byPoint: { readonly [P in KillPoint]?: { n: number; violations: number; fates: Record<string, number> } };
  readonly seconds: number;
}

export interface KillOptions {
  /** Trials for each point. */
  readonly n: number;
  readonly seed: number;
  readonly points?: readonly KillPoint[];
  readonly onTrial?: (point: KillPoint, done: number, total: number) => void;
}

export async function runKillPoints(options: KillOptions): Promise<KillReport> {
  const started = performance.now();
  const random = seeded(options.seed);
  const points = options.points ?? KILL_POINTS;
  const violations: string[] = [];
  const byPoint: { [P in KillPoint]?: { n: number; violations: number; fates: Record<string, number> } } = {};
  await using resources = new AsyncDisposableStack();
  const place = await makeSurvivingDatabase();
  resources.defer(() => place.remove());
  const provider = await startFatalProvider();
  resources.defer(() => provider.close());
  const start = () =>
    startGatewayProcess({ dataDir: place.dataDir, databaseUrl: place.databaseUrl, providerUrl: provider.origin });
  // One start serves two trials: it answers the retry of one and dies in the next.
  let gateway = await start();
  resources.defer(() => gateway.close());
  const restart = async () => {
    gateway = await start();
    return gateway;
  };
  let done = 0;
  for (let round = 0; round < options.n; round += 1) {
    for (const point of shuffled(points, random)) {
      const trial = await runTrial({
        point,
        gateway,
        provider,
        restart,
        number: done,
        // Every point has both orders, even in few rounds.
        sweepFirst: (round + points.indexOf(point)) % 2 === 0,
        key: `${point}-${options.seed}-${done}`,
      });
      done += 1;
      const tally = (byPoint[point] ??= { n: 0, violations: 0, fates: {} });
      tally.n += 1;
      tally.violations += trial.violations.length;
      tally.fates[trial.fate] = (tally.fates[trial.fate] ?? 0) + 1;
      violations.push(...trial.violations.map((text) => `${point} #${done}: ${text}`));
      options.onTrial?.(point, done, options.n * points.length);
    }
  }
  return { engine: place.engine, n: done, violations, byPoint, seconds: (performance.now() - started) / 1000 };
}

interface Trial {
  readonly point: KillPoint;
  readonly gateway: GatewayProcess;
  readonly provider: FatalProvider;
  readonly restart: () => Promise<GatewayProcess>;
  readonly number: number;
  /** The sweeper runs before the retry; otherwise the retry itself finds the expired slot. */
  readonly sweepFirst: boolean;
  readonly key: string;
}

/** Far enough apart to distinguish the attempts of the trials by their time. */
const TRIAL_SECONDS = 1_000;
/** Past the slot's lease of 30 s, and the attempt's deadline of 300 s with its grace of 30 s. */
const LAPSED_SECONDS = 400;
const EPOCH_MS = Date.UTC(2030, 0, 1);

async function runTrial(trial: Trial): Promise<{ readonly fate: string; readonly violations: readonly string[] }> {
  const { point, provider, key } = trial;
  const found: string[] = [];
  const hold = (isSo: boolean, otherwise: string): void => {
    if (!isSo) found.push(otherwise);
  };
  const at = (seconds: number) => new Date(EPOCH_MS + (trial.number * TRIAL_SECONDS + seconds) * 1000).toISOString();
  const send = (gateway: GatewayProcess) =>
    postForm(gateway.origin, { fields: { language: "en" }, headers: { "idempotency-key": key } });

  await trial.gateway.ask({ kind: "clock", at: at(0) });
  if (isInner(point)) await trial.gateway.ask({ kind: "arm", point });
  provider.expect(isInner(point) ? null : point, () => trial.gateway.kill());
  const first = await send(trial.gateway).catch(connectionLost);
  if (!(await trial.gateway.diedWithin(10_000))) {
    trial.gateway.kill();
    await trial.gateway.diedWithin(10_000);
    return { fate: "survived", violations: [`the process survived and answered ${first?.status}`] };
  }

  const gateway = await trial.restart();
  const expected = FATES[point];
  // Within the lease it is unknown that the owner is dead. After a parse there is no slot, and a retry would run.
  if (point !== "after-parse" && !expected.includes("replay")) {
    const early = await send(gateway);
    hold(early.code === "IDEMPOTENCY_REPLAY_IN_PROGRESS", `within the lease: ${early.status} ${early.code}`);
  }
  await gateway.ask({ kind: "clock", at: at(LAPSED_SECONDS) });
  if (trial.sweepFirst) {
    await gateway.ask({ kind: "sweep" });
    const swept = await factsOf(gateway, key, at(0));
    hold(expected.map(slotAfterSweep).includes(swept.slot), `slot after the sweep: ${swept.slot}`);
  }
  const callsBefore = provider.callCount();
  const retry = await send(gateway);
  const fate = fateOf(retry);
  hold(
    expected.some((each) => each === fate),
    `retry: ${fate} ${retry.status} ${retry.code}`,
  );
  if (fate === "runs") hold(callsBefore === 0, "ran again after the provider had been called");
  const secondRetry = await send(gateway);
  hold(
    fateOf(secondRetry) === (fate === "unavailable" ? "unavailable" : "replay"),
    `second retry: ${fateOf(secondRetry)}`,
  );
  if (fate !== "unavailable") hold(secondRetry.text === retry.text, "the answer changed between two retries");
  if (first !== null) hold(first.text === retry.text, "the retry differs from an answer already given");

  await gateway.ask({ kind: "sweep" });
  hold(provider.callCount() <= 1, `${provider.callCount()} provider calls under one key`);
  if (fate === "runs") hold(provider.callCount() === 1, `${provider.callCount()} provider calls for one answer`);
  judgeBooks(await factsOf(gateway, key, at(0)), fate, hold);
  return { fate, violations: found };
}

/** Charges equal completed answers; nothing stays open or reserved; the budget matches the attempts. */
export function judgeBooks(facts: Facts, fate: string, hold: (isSo: boolean, otherwise: string) => void): void {
  const isPaid = fate !== "unavailable";
  hold(facts.slot === (isPaid ? "completed" : "burned"), `final slot: ${facts.slot}`);
  const charged = facts.attempts.filter((attempt) => attempt.chargeNanoUsd > 0);
  hold(charged.length === (isPaid ? 1 : 0), `${charged.length} charges`);
  hold(
    charged.every((attempt) => attempt.outcome === "succeeded"),
    "charged without success",
  );
  hold(facts.attempts.length === 1, `${facts.attempts.length} attempts`);
  hold(
    facts.attempts.every((attempt) => attempt.state === "settled"),
    "an open reservation is left",
  );
  if (!isPaid) {
    hold(
      facts.attempts.every((attempt) => attempt.outcome === "unknown" && attempt.unresolved),
      "a lost attempt is not marked unresolved",
    );
  }
  hold(facts.reservedNanoUsd === 0, `${facts.reservedNanoUsd} nano-USD still reserved`);
  hold(facts.spentNanoUsd === facts.chargedNanoUsd, `spent ${facts.spentNanoUsd}, charged ${facts.chargedNanoUsd}`);
}

function isInner(point: KillPoint): point is InnerPoint {
  return INNER_POINTS.some((each) => each === point);
}

export function fateOf(answer: Answer): string {
  if (answer.status === 200) return answer.headers.get("x-svc-idempotent-replay") === "true" ? "replay" : "runs";
  return answer.code === "IDEMPOTENT_RESULT_UNAVAILABLE" ? "unavailable" : `${answer.status} ${answer.code}`;
}

function slotAfterSweep(fate: Fate): string | null {
  return { runs: null, unavailable: "burned", replay: "completed" }[fate];
}

export async function factsOf(gateway: GatewayProcess, key: string, since: string): Promise<Facts> {
  const facts = await gateway.ask({ kind: "facts", key, since });
  assert(facts !== null);
  return facts;
}

/** A wrong answer is not a lost connection. */
export function connectionLost(error: unknown): null {
  if (error instanceof TypeError) return null;
  throw error;
}
