// Asks for confirmation before an irreversible action: on a terminal only; elsewhere `--yes` is required.
import { createInterface } from "node:readline/promises";
import { EXIT } from "./exit-codes.ts";
import { CliError, type Terminal, stripControlCharacters } from "./terminal.ts";

const IRREVERSIBLE = {
  withoutTerminal: "This cannot be undone and needs confirmation, but there is no terminal.",
  hint: "confirm with --yes",
};

export async function confirm(
  question: string,
  terminal: Terminal,
  signal: AbortSignal,
  { withoutTerminal, hint } = IRREVERSIBLE,
): Promise<void> {
  if (terminal.stdin.isTTY !== true) throw new CliError(EXIT.usage, withoutTerminal, { hints: [hint] });
  const reader = createInterface({ input: terminal.stdin, output: terminal.stderr });
  try {
    const answer = await reader.question(`${stripControlCharacters(question)} [y/N] `, { signal });
    if (!/^y(es)?$/iu.test(answer.trim())) throw new CliError(EXIT.usage, "Nothing was changed.");
  } finally {
    reader.close();
  }
}
