// What a kill of embedded storage may cost: the answers that were on their way, and nothing else.
import { quantile } from "../../../bench/report.ts";
import type { SandboxCall } from "../../../sandbox/server.ts";
import { countCalls, type Ended } from "../failover/keyed-client.ts";
import type { JobState, Victim } from "./run-embedded-kills.ts";

export interface Round {
  readonly victim: Victim;
  /** Until a request was served again: from the next start, or from the kill where the gateway survived. */
  readonly usableMs: number;
  /** Why it was not; null: it was. */
  readonly complaint: string | null;
  /** Postmasters on these files when it was. */
  readonly servers: number;
  /** Until the server of a killed gateway had ended by itself; null: not looked at. */
  readonly goneMs: number | null;
  readonly isNewStart: boolean;
}

interface Evidence {
  readonly rounds: readonly Round[];
  readonly ended: readonly Ended[];
  readonly jobs: readonly JobState[];
  readonly calls: readonly SandboxCall[];
  /** After the last stop; null: processes were left. */
  readonly goneMs: number | null;
  /** The gateway's, of all its starts. */
  readonly log: string;
  /** False: a machine that does other things as well is no violation. */
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
  const called = countCalls(calls, new Set(ended.map(({ submission }) => submission.name)));
  for (const { submission, answers } of ended) {
    const { name, kind } = submission;
    const last = answers.at(-1);
    if (last === undefined) continue;
    count(outcomes, `${kind} ${last.status}${last.code === "" ? "" : ` ${last.code}`}`);
    const isAccepted = last.status === 200 || last.status === 202;
    const isUnknown = last.code === "PROVIDER_RESULT_UNKNOWN" || last.code === "IDEMPOTENT_RESULT_UNAVAILABLE";
    if (!isAccepted && !isUnknown)
      violations.push(`${name}: ${kind}: at last ${last.status} ${last.text}${loggedOf(last.text, log)}`);
    const times = called.get(name) ?? 0;
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
  const listed = (map: ReadonlyMap<string, number>): string =>
    [...map].map(([key, times]) => `${key} × ${times}`).join(", ");
  const gone = rounds.flatMap(({ goneMs }) => (goneMs === null ? [] : [goneMs]));
  const byVictim = Object.groupBy(rounds, ({ victim }) => victim);
  return {
    keys: sums.keys,
    "final answers": listed(sums.outcomes),
    jobs: listed(sums.states),
    ...Object.fromEntries(
      Object.entries(byVictim).map(([victim, list]) => [`killed: ${victim}, served again after`, times(list ?? [])]),
    ),
    "server of a killed gateway ended by itself": `${gone.length} looked at, at most ${Math.max(0, ...gone).toFixed(0)} ms`,
    "processes after the last stop": sums.goneMs === null ? "some" : `none, ${sums.goneMs.toFixed(0)} ms after its end`,
  };
}

function times(rounds: readonly Round[]): string {
  const ms = rounds.map(({ usableMs }) => usableMs);
  const starts = rounds.filter(({ isNewStart }) => isNewStart).length;
  return `p50 ${quantile(ms, 0.5).toFixed(0)}, at most ${Math.max(...ms).toFixed(0)} ms (n ${rounds.length}, of which ${starts} by a new start)`;
}

/** What the gateway logged of a request that it answered so. */
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
