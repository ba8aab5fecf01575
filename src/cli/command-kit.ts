// Shared parts of the command line: how a command returns its outcome, and options of several commands.
import { type Command, InvalidArgumentError, Option } from "commander";
import { EXIT_CODE_HELP } from "./exit-codes.ts";
import { DEFAULT_ADMIN_URL, DEFAULT_URL } from "./gateway-url.ts";
import type { Terminal } from "./terminal.ts";

export interface Run {
  readonly terminal: Terminal;
  readonly signal: AbortSignal;
  /** Ctrl-C aborts the signal, and the work fails as interrupted. */
  readonly interruptibly: (work: () => Promise<void>) => Promise<void>;
  exitCode: number;
}

export function configOption(): Option {
  return new Option("--config <file>", "Configuration file (PATCHBAY_CONFIG; default: ./patchbay.yaml if it exists).");
}

export function jsonOption(): Option {
  return new Option("--json", "Print exactly one JSON document.");
}

export function urlOption(): Option {
  return new Option(
    "--url <url>",
    `Address of the gateway (PATCHBAY_URL; default: the one started in this directory, else ${DEFAULT_URL}).`,
  );
}

export function adminKeyOption(): Option {
  return new Option(
    "--api-key <key>",
    "Administrator key (PATCHBAY_API_KEY; default: the operator key saved by a gateway started here).",
  );
}

/** For commands that use the admin listener only. */
export function adminUrlOption(): Option {
  return new Option(
    "--admin-url <url>",
    `Address of the admin listener (PATCHBAY_ADMIN_URL; default: the one started in this directory, else ${DEFAULT_ADMIN_URL}).`,
  );
}

export function outputOption(): Option {
  return new Option("-o, --output <file>", "Write the result to a file instead of stdout.");
}

export function apiKeyOption(): Option {
  return new Option("--api-key <key>", "API key (PATCHBAY_API_KEY; default: the one saved by a gateway started here).");
}

export function idempotencyKeyOption(): Option {
  return new Option("--idempotency-key <key>", "Idempotency key that makes a retry safe (default: a new one).");
}

export function yesOption(): Option {
  return new Option("-y, --yes", "Skip the confirmation; required without a terminal.");
}

export function workspaceOption(): Option {
  return new Option("--workspace <workspace>", "Slug or id of the workspace (default: the key's own).");
}

/** Options of commands that use an app's key. */
export function withConnectionOptions(command: Command): Command {
  return command.addOption(jsonOption()).addOption(urlOption()).addOption(apiKeyOption());
}

/** Options of commands for a workspace's administrator, or the operator on its behalf. */
export function withAdminOptions(command: Command): Command {
  return command
    .addOption(workspaceOption())
    .addOption(jsonOption())
    .addOption(urlOption())
    .addOption(adminKeyOption());
}

/** Each occurrence adds a value. */
export function repeatableOption(flags: string, description: string, choices?: readonly string[]): Option {
  const option = new Option(flags, `${description} Repeatable.`);
  // `choices` installs a parser that replaces earlier values; only its list of choices is kept.
  return (choices === undefined ? option : option.choices(choices)).argParser(
    (text: string, texts: string[] | undefined) => {
      if (choices?.includes(text) === false)
        throw new InvalidArgumentError(`Allowed choices are ${choices.join(", ")}.`);
      return [...(texts ?? []), text];
    },
  );
}

export function limitOption(description = "Maximum number of items (default: 20)."): Option {
  return new Option("--limit <n>", description).argParser(parseLimit);
}

export function parseSeconds(text: string): number {
  if (!/^\d{1,10}$/u.test(text)) throw new InvalidArgumentError("It must be a whole number of seconds.");
  return Number(text);
}

/** The end of a command's help, for `addHelpText("after", …)`: the exit codes, then examples [cli.help]. */
export function helpFooter(...examples: readonly string[]): string {
  return `\n${EXIT_CODE_HELP}\n\nExamples:\n${examples.map((line) => `  $ ${line}`).join("\n")}`;
}

function parseLimit(text: string): number {
  const limit = Number(text);
  if (!/^\d{1,6}$/u.test(text) || limit === 0) throw new InvalidArgumentError("It must be a whole number above 0.");
  return limit;
}
