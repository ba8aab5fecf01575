// Finds the API key of a command: `--api-key`, PATCHBAY_API_KEY, else the key that the server on this machine saved.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { installationHere } from "../config/installation-here.ts";
import { EXIT } from "./exit-codes.ts";
import { CliError, type Terminal } from "./terminal.ts";

export const CLI_KEY_FILE = "cli-key";
/** For operations of administrators. */
export const OPERATOR_KEY_FILE = "operator-key";

/** `dataDir`: directory of the saved key. Default: the data directory of the configuration found from here. */
export function findApiKey(
  option: string | undefined,
  url: URL,
  terminal: Terminal,
  file: typeof CLI_KEY_FILE | typeof OPERATOR_KEY_FILE = CLI_KEY_FILE,
  dataDir?: string,
): string {
  const explicitKey = option ?? terminal.env["PATCHBAY_API_KEY"];
  if (explicitKey !== undefined && explicitKey !== "") {
    if (/^[\x21-\x7e]+$/.test(explicitKey)) return explicitKey;
    throw new CliError(EXIT.auth, "The API key contains characters that no key has.", {
      hints: ["check --api-key or PATCHBAY_API_KEY"],
    });
  }
  const location = { file: null, env: terminal.env, cwd: terminal.cwd };
  const path = join(dataDir ?? installationHere(location).dataDir, file);
  const hints = [
    "set one: --api-key KEY, PATCHBAY_API_KEY",
    file === OPERATOR_KEY_FILE
      ? `or start a gateway here: without an operator key, it creates one in ${path}; others are configured under operator_keys`
      : `or start a gateway here without workspaces in its configuration: its first start saves a key in ${path}`,
  ];
  // The saved key is for the gateway on this machine and must be sent nowhere else. Compared literally: some resolvers ask DNS for `x.localhost`.
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
