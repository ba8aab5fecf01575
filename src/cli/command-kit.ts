// What the command line's parts share: where a command's outcome goes, and options that several have.
import { Option } from "commander";
import type { Terminal } from "./terminal.ts";

export interface Run {
  readonly terminal: Terminal;
  readonly signal: AbortSignal;
  exitCode: number;
}

export function configOption(): Option {
  return new Option(
    "--config <file>",
    "Configuration file (PATCHBAY_CONFIG; default ./patchbay.yaml when there is one).",
  );
}

export function jsonOption(): Option {
  return new Option("--json", "Print exactly one JSON document.");
}

export function examples(...lines: readonly string[]): string {
  return `Examples:\n${lines.map((line) => `  $ ${line}`).join("\n")}\n`;
}
