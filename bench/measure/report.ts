// Prints results: the setup, a Markdown table, and the same as JSON.
import { execFileSync } from "node:child_process";
import { availableParallelism, loadavg } from "node:os";

export interface Report {
  readonly name: string;
  readonly rows: readonly Readonly<Record<string, string | number>>[];
  readonly notes: readonly string[];
  readonly data: object;
}

/** `worth`: capacity of the cores, before and after. */
export function printReport(report: Report, worth: readonly number[], onlyJson: boolean): void {
  const { name, rows, notes, data } = report;
  const worthOfCores = worth.map((each) => round(each, 2));
  const json = JSON.stringify({ bench: name, ...circumstances(), worthOfCores, ...data });
  if (onlyJson) {
    console.log(json);
    return;
  }
  console.log(`\n## ${name}\n\n${table(rows)}\n`);
  for (const note of notes) console.log(`- ${note}`);
  console.log(
    `- ${availableParallelism()} cores: as many busy loops at once got ${worthOfCores.join(" times as much done as one alone before, ")} times after.`,
  );
  console.log(`\n\`\`\`json\n${json}\n\`\`\``);
}

export function table(rows: readonly Readonly<Record<string, string | number>>[]): string {
  const columns = Object.keys(rows[0] ?? {});
  const line = (cells: readonly (string | number)[]) => `| ${cells.join(" | ")} |`;
  return [
    line(columns),
    line(columns.map(() => "---")),
    ...rows.map((row) => line(columns.map((name) => row[name] ?? ""))),
  ].join("\n");
}

function circumstances(): object {
  return {
    commit: commitOf(),
    node: process.version,
    cores: availableParallelism(),
    loadAverage: loadavg().map((value) => round(value, 2)),
  };
}

/** The measured commit, with a `+` if files differ from it. */
export function commitOf(): string {
  try {
    const git = (...args: string[]) =>
      execFileSync("git", args, {
        cwd: import.meta.dirname,
        encoding: "utf8",
        stdio: ["ignore", "pipe", "ignore"],
      }).trim();
    return `${git("rev-parse", "--short", "HEAD")}${git("status", "--porcelain") === "" ? "" : "+"}`;
  } catch {
    return "unknown";
  }
}

export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((left, right) => left - right);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

export function round(value: number, digits: number): number {
  return Number(value.toFixed(digits));
}
