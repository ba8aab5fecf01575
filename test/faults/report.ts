// Reports of the trials of `npm run faults`: one line each for people, one JSON object each for programs, both with n, seed and commit.
import { table } from "../../src/cli/print.ts";
import type { Trials } from "./fault.ts";

export interface FaultReport extends Omit<Trials, "engine"> {
  readonly name: string;
  readonly promises: readonly string[];
  /** Null: it failed before it was known. */
  readonly engine: string | null;
  readonly seed: number;
  readonly commit: string;
  /** Without violations in n trials, the rate is below 3/n with 95 % confidence. */
  readonly bound: number | null;
}

export function boundOf({ n, violations }: Pick<Trials, "n" | "violations">): number | null {
  return violations.length === 0 && n > 0 ? Math.min(1, 3 / n) : null;
}

export function printReport(report: FaultReport, isJson: boolean): void {
  if (isJson) {
    console.log(JSON.stringify(report));
    return;
  }
  const { name, engine, n, seed, commit, violations, bound, seconds, figures } = report;
  const share = bound === null ? "no bound" : `rate < ${percent(bound)} (95 %)`;
  console.log(
    `${name}${engine === null ? "" : ` on ${engine}`}: n = ${n}, violations ${violations.length}, ${share}, ${seconds.toFixed(1)} s, seed ${seed}, commit ${commit}`,
  );
  for (const [figure, value] of Object.entries(figures ?? {})) console.log(`  ${figure}: ${value}`);
  for (const violation of violations) console.log(`  violation: ${violation}`);
}

/** Overview of a run with several trials, in their order. */
export function printTable(reports: readonly FaultReport[]): void {
  const rows = reports.map(({ name, promises, n, seed, violations, bound, seconds, commit }) => [
    name,
    promises.join(" "),
    String(n),
    String(seed),
    String(violations.length),
    bound === null ? "" : `< ${percent(bound)}`,
    seconds.toFixed(1),
    commit,
  ]);
  console.log(`\n${table(["trial", "promise", "n", "seed", "violations", "bound", "seconds", "commit"], rows)}`);
}

function percent(share: number): string {
  const hundredths = share * 100;
  return `${hundredths >= 10 ? hundredths.toFixed(0) : hundredths.toPrecision(2)} %`;
}
