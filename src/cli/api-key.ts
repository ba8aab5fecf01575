// Which key a command calls with: `--api-key`, PATCHBAY_API_KEY, else the one the server on this machine saved for it.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { installationHere } from "../config/installation-here.ts";
import { EXIT } from "./exit-codes.ts";
import { CliError, type Terminal } from "./terminal.ts";

export const CLI_KEY_FILE = "cli-key";
/** For what only administrators may do. */
export const OPERATOR_KEY_FILE = "operator-key";

/** `dataDir`: where the saved key is looked for, if not where the configuration that is found from here keeps its data. */
export function findApiKey(
  option: string | undefined,
  url: URL,
  terminal: Terminal,
  file: typeof CLI_KEY_FILE | typeof OPERATOR_KEY_FILE = CLI_KEY_FILE,
  dataDir?: string,
): string {
  const given = option ?? terminal.env["PATCHBAY_API_KEY"];
  if (given !== undefined && given !== "") {
    if (/^[\x21-\x7e]+$/.test(given)) return given;
    throw new CliError(EXIT.auth, "The API key holds characters no key has.", {
      hints: ["check --api-key or PATCHBAY_API_KEY"],
    });
  }
  const here = { file: null, env: terminal.env, cwd: terminal.cwd };
  const path = join(dataDir ?? installationHere(here).dataDir, file);
  const hints = [
    "give one: --api-key KEY, PATCHBAY_API_KEY",
    file === OPERATOR_KEY_FILE
      ? `or start a gateway here: one that finds no operator's key saves one in ${path}; another one is named under operator_keys in the configuration file`
      : `or start a gateway here whose configuration names no workspace: its first start saves one in ${path}`,
  ];
  // The saved key opens the gateway of this machine; it is nobody else's business. Literally: some resolvers ask DNS for `x.localhost`.
  if (!["127.0.0.1", "localhost", "[::1]"].includes(url.hostname))
    throw new CliError(EXIT.auth, `There is no API key for ${url.origin}.`, { hints: hints.slice(0, 1) });
  const saved = readIfThere(path)?.trim();
  if (saved === undefined || saved === "") throw new CliError(EXIT.auth, "There is no API key.", { hints });
  return saved;
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}
