// Checks the result of kills with embedded storage: only answers in transit may be lost.
import { quantile } from "../../../bench/measure/report.ts";
import type { SandboxCall } from "../../../sandbox/server.ts";
import { countCalls, type Ended } from "../failover/keyed-client.ts";
import type { JobState, Victim } from "./run-embedded-kills.ts";

export interface Round {
  readonly victim: Victim;
  /** Time until a request was served again: from the next start, or from the kill if the gateway survived. */
  readonly usableMs: number;
  /** Why it was not served. Null: it was. */
  readonly complaint: string | null;
  /** Number of postmasters on these files at that time. */
  readonly servers: number;
  /** Time until the server of a killed gateway exited by itself. Null: not measured. */
  readonly goneMs: number | null;
  readonly isNewStart: boolean;
}

interface Evidence {
  readonly rounds: readonly Round[];
  readonly ended: readonly Ended[];
  readonly jobs: readonly JobState[];
  readonly calls: readonly SandboxCall[];
  /** After the last stop. Null: processes remained. */
  readonly goneMs: number | null;
  /** Of the gateway, across all its starts. */
  readonly log: string;
  /** False: slow times on a busy machine are no violation. */
  readonly judgesTimes: boolean;
}

const READY_WITHIN_MS = 5_000;

export function judgeEmbeddedKills({ rounds, ended, jobs, calls, goneMs, log, judgesTimes }: Evidence) {
  const violations: string[] = [];
  for (const [index, round] of rounds.entries()) {
    const where = `kill ${index + 1}, ${round.victim}`;
    if (round.complaint !== null) violations.push(`${where}: ${round.complaint}`);
    else if (judgesTimes && round.usableMs > READY_WITHIN_MS)
      violations.push(`${where}: served again after ${round.usableMs.toFixed(0)} ms`);
    if (round.complaint === null && round.servers !== 1) violations.push(`${where}: ${round.servers} servers`);
    if (round.goneMs === Infinity) violations.push(`${where}: its server did not end by itself`);
  }
  if (goneMs === null) violations.push("processes were left after the last stop");
  const outcomes = new Map<string, number>();
  const accepted = new Set<string>();
  const callCounts = countCalls(calls, new Set(ended.map(({ submission }) => submission.name)));
  for (const { submission, answers } of ended) {
    const { name, kind } = submission;
    const last = answers.at(-1);
    if (last === undefined) continue;
    count(outcomes, `${kind} ${last.status}${last.code === "" ? "" : ` ${last.code}`}`);
    const isAccepted = last.status === 200 || last.status === 202;
    const isUnknown = last.code === "PROVIDER_RESULT_UNKNOWN" || last.code === "IDEMPOTENT_RESULT_UNAVAILABLE";
    if (!isAccepted && !isUnknown)
      violations.push(`${name}: ${kind}: at last ${last.status} ${last.text}${loggedOf(last.text, log)}`);
    const times = callCounts.get(name) ?? 0;
    if (times > 1) violations.push(`${name}: ${kind}: ${times} provider calls`);
    if (last.status === 202) accepted.add(/"job_id":"([^"]+)"/u.exec(last.text)?.[1] ?? "");
  }
  const states = new Map<string, number>();
  for (const { id, status, error } of jobs) {
    const code = codeOf(error);
    count(states, code === "" ? status : `${status} ${code}`);
    if (status === "queued" || status === "processing") violations.push(`the accepted job ${id} is still ${status}`);
    else if (status === "failed" && code !== "PROVIDER_RESULT_UNKNOWN")
      violations.push(`the accepted job ${id} failed: ${JSON.stringify(error)}`);
    accepted.delete(id);
  }
  for (const id of accepted) violations.push(`the accepted job ${id} is lost`);
  return { violations, figures: figuresOf(rounds, { outcomes, states, keys: ended.length, goneMs }) };
}

function figuresOf(
  rounds: readonly Round[],
  sums: {
    readonly outcomes: ReadonlyMap<string, number>;
    readonly states: ReadonlyMap<string, number>;
    readonly keys: number;
    readonly goneMs: number | null;
  },
): Readonly<Record<string, string | number>> {
  const countsText = (map: ReadonlyMap<string, number>): string =>
    [...map].map(([key, times]) => `${key} × ${times}`).join(", ");
  const goneTimes = rounds.flatMap(({ goneMs }) => (goneMs === null ? [] : [goneMs]));
  const byVictim = Object.groupBy(rounds, ({ victim }) => victim);
  return {
    keys: sums.keys,
    "final answers": countsText(sums.outcomes),
    jobs: countsText(sums.states),
    ...Object.fromEntries(
      Object.entries(byVictim).map(([victim, list]) => [`killed: ${victim}, served again after`, times(list ?? [])]),
    ),
    "server of a killed gateway ended by itself": `${goneTimes.length} looked at, at most ${Math.max(0, ...goneTimes).toFixed(0)} ms`,
    "processes after the last stop": sums.goneMs === null ? "some" : `none, ${sums.goneMs.toFixed(0)} ms after its end`,
  };
}

function times(rounds: readonly Round[]): string {
  const ms = rounds.map(({ usableMs }) => usableMs);
  const starts = rounds.filter(({ isNewStart }) => isNewStart).length;
  return `p50 ${quantile(ms, 0.5).toFixed(0)}, at most ${Math.max(...ms).toFixed(0)} ms (n ${rounds.length}, of which ${starts} by a new start)`;
}

/** What the gateway logged about a request with this answer. */
function loggedOf(answer: string, log: string): string {
  const id = /"request_id":"(\w+)"/u.exec(answer)?.[1];
  const lines = id === undefined ? [] : log.split("\n").filter((line) => line.includes(id) && line.includes('"err"'));
  return lines.length === 0 ? "" : `\n    ${lines.join("\n    ").slice(0, 3_000)}`;
}

function codeOf(error: unknown): string {
  return typeof error === "object" && error !== null && "code" in error ? String(error.code) : "";
}

function count(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}
