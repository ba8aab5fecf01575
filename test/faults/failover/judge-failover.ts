// Checks the result of a failover: no accepted work lost, nothing done twice, no 500, and no key that stays locked although nothing was dispatched under it.
import { median } from "../../../bench/measure/report.ts";
import type { SandboxCall } from "../../../sandbox/server.ts";
import { countCalls, type Ended } from "./keyed-client.ts";
import { lateNotified, type Notified } from "./notifications.ts";
import type { JobState } from "./run-failover.ts";

export interface Judged {
  readonly violations: readonly string[];
  readonly keys: number;
  /** Final answers by status and code. */
  readonly outcomes: ReadonlyMap<string, number>;
  /** Intermediate answers, including refusals. */
  readonly refusals: ReadonlyMap<string, number>;
  readonly usableMs: readonly number[];
  /** Time from the promotion until a retry was accepted for a key that had been refused before and never reached a provider. */
  readonly freeMs: { readonly impatient: readonly number[]; readonly patient: readonly number[] };
  readonly jobs: ReadonlyMap<string, number>;
  readonly notified: Notified;
}

interface Evidence {
  readonly ended: readonly Ended[];
  readonly backMs: number;
  readonly usableMs: readonly number[];
  readonly jobs: readonly JobState[];
  readonly notified: Notified;
  readonly calls: readonly SandboxCall[];
  /** False: slow times on a busy machine are no violation. */
  readonly judgesTimes: boolean;
}

const USABLE_WITHIN_MS = 5_000;
/** After a gateway is usable again; for clients that poll every 100 ms, and for those that wait for Retry-After. */
const FREE_WITHIN_MS = { impatient: 5_000, patient: 7_500 };

export function judgeFailover(evidence: Evidence): Judged {
  const { ended, backMs, usableMs, notified, jobs, calls, judgesTimes } = evidence;
  const violations: string[] = [];
  const outcomes = new Map<string, number>();
  const refusals = new Map<string, number>();
  const freeMs = { impatient: [] as number[], patient: [] as number[] };
  const callCounts = countCalls(calls, new Set(ended.map(({ submission }) => submission.name)));
  const accepted = new Set<string>();
  for (const { submission, answers } of ended) {
    const { name, kind, isImpatient } = submission;
    const last = answers.at(-1);
    if (last === undefined) continue;
    count(outcomes, `${kind} ${last.status}${last.code === "" ? "" : ` ${last.code}`}`);
    for (const { status, code } of answers.slice(0, -1)) count(refusals, `${status ?? "broken"} ${code}`.trimEnd());
    for (const { status, text } of answers)
      if (status === 500) violations.push(`${name}: ${kind}: 500 ${text.slice(0, 200)}`);
    const isAccepted = last.status === 200 || last.status === 202;
    const isUnknown = last.code === "PROVIDER_RESULT_UNKNOWN" || last.code === "IDEMPOTENT_RESULT_UNAVAILABLE";
    if (!isAccepted && !isUnknown) violations.push(`${name}: ${kind}: at last ${last.status} ${last.text}`);
    const times = callCounts.get(name) ?? 0;
    if (times > 1) violations.push(`${name}: ${kind}: ${times} provider calls`);
    if (isUnknown && times === 0) violations.push(`${name}: ${kind}: of unknown outcome without a provider call`);
    if (kind === "job" && last.status === 202) accepted.add(/"job_id":"([^"]+)"/u.exec(last.text)?.[1] ?? "");
    // The only provider call of the key came from the accepted retry.
    const wasRefused = answers.some(({ atMs, code }) => atMs < backMs && code === "OVERLOADED");
    if (wasRefused && isAccepted && last.atMs > backMs)
      freeMs[isImpatient ? "impatient" : "patient"].push(last.atMs - backMs);
  }
  if (judgesTimes) violations.push(...lateKeys(freeMs), ...lateGateways(usableMs), ...lateNotified(notified));
  const states = new Map<string, number>();
  for (const { id, status, error } of jobs) {
    count(states, status);
    if (accepted.has(id) && status !== "succeeded")
      violations.push(`the accepted job ${id} is ${status}: ${JSON.stringify(error)}`);
    accepted.delete(id);
  }
  for (const id of accepted) violations.push(`the accepted job ${id} is lost`);
  return { violations, keys: ended.length, outcomes, refusals, usableMs, freeMs, jobs: states, notified };
}

function lateKeys(freeMs: Judged["freeMs"]): readonly string[] {
  return (["impatient", "patient"] as const).flatMap((client) => {
    const most = Math.max(0, ...freeMs[client]);
    return most > FREE_WITHIN_MS[client] ? [`a key was free ${most.toFixed(0)} ms after the database was back`] : [];
  });
}

function lateGateways(usableMs: readonly number[]): readonly string[] {
  return usableMs.flatMap((ms, index) =>
    ms > USABLE_WITHIN_MS ? [`gateway ${index + 1} was usable after ${ms.toFixed(0)} ms`] : [],
  );
}

/** One line per figure, over all runs. */
export function summarise(runs: readonly Judged[]): Readonly<Record<string, string>> {
  const most = (numbers: readonly number[]) => Math.max(0, ...numbers).toFixed(0);
  const merged = (mapOf: (run: Judged) => ReadonlyMap<string, number>): string => {
    const sums = new Map<string, number>();
    for (const run of runs) for (const [key, times] of mapOf(run)) count(sums, key, times);
    return [...sums].map(([key, times]) => `${key} × ${times}`).join(", ");
  };
  return {
    keys: runs.map(({ keys }) => keys).join(" + "),
    "final answers": merged(({ outcomes }) => outcomes),
    "answers before them": merged(({ refusals }) => refusals),
    jobs: merged(({ jobs }) => jobs),
    "usable after the promotion": `${runs.map((run) => run.usableMs.map((ms) => ms.toFixed(0)).join(" and ")).join("; ")} ms (bound ${USABLE_WITHIN_MS})`,
    "a key revoked at one gateway was refused by the other after": `${runs.map(({ notified }) => notified.revokedMs.toFixed(0)).join(", ")} ms`,
    "jobs were taken up after": `${runs.map(({ notified }) => `${median(notified.pickedUpMs).toFixed(0)} in the median, ${most(notified.pickedUpMs)} at most`).join("; ")} ms`,
    "refused keys accepted after the promotion": runs
      .map(
        ({ freeMs: { impatient, patient } }) =>
          `asking every 100 ms: ${impatient.length} keys, at most ${most(impatient)} ms; waiting as Retry-After says: ${patient.length} keys, at most ${most(patient)} ms`,
      )
      .join("; "),
  };
}

function count(counts: Map<string, number>, key: string, times = 1): void {
  counts.set(key, (counts.get(key) ?? 0) + times);
}
