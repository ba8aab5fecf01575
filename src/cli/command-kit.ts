// What the command line's parts share: where a command's outcome goes, and options that several have.
import { Option } from "commander";
import { DEFAULT_URL } from "./gateway-url.ts";
import type { Terminal } from "./terminal.ts";

export interface Run {
  readonly terminal: Terminal;
  readonly signal: AbortSignal;
  /** Ctrl-C aborts the signal, and the work fails as interrupted. */
  readonly interruptibly: (work: () => Promise<void>) => Promise<void>;
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

export function urlOption(): Option {
  return new Option("--url <url>", `Address of the gateway (PATCHBAY_URL; default ${DEFAULT_URL}).`);
}

export function adminKeyOption(): Option {
  return new Option(
    "--api-key <key>",
    "Key of an administrator (PATCHBAY_API_KEY; default: the operator's that a gateway started here saved).",
  );
}

export function examples(...lines: readonly string[]): string {
  return `Examples:\n${lines.map((line) => `  $ ${line}`).join("\n")}\n`;
}
