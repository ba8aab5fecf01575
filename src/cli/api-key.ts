// Which key a command calls with: `--api-key`, PATCHBAY_API_KEY, else the one the server on this machine saved for it.
import { readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { findFile } from "../config/find-file.ts";
import { readYaml, toPlainData } from "../config/read-yaml.ts";
import { field, text } from "../config/raw-data.ts";
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
  const path = join(dataDir ?? dataDirectory(terminal), file);
  const hints = [
    "give one: --api-key KEY, PATCHBAY_API_KEY",
    `or start a gateway here without a configuration file, which saves one: patchbay up (looked for ${path})`,
    ...(file === OPERATOR_KEY_FILE
      ? ["or name one under operator_keys in the configuration file, and start anew"]
      : []),
  ];
  // The saved key opens the gateway of this machine; it is nobody else's business. Literally: some resolvers ask DNS for `x.localhost`.
  if (!["127.0.0.1", "localhost", "[::1]"].includes(url.hostname))
    throw new CliError(EXIT.auth, `There is no API key for ${url.origin}.`, { hints: hints.slice(0, 1) });
  const saved = readIfThere(path)?.trim();
  if (saved === undefined || saved === "") throw new CliError(EXIT.auth, "There is no API key.", { hints });
  return saved;
}

/** Read leniently: a configuration with faults elsewhere still says where its data is. */
function dataDirectory(terminal: Terminal): string {
  const file = findFile({ file: null, env: terminal.env, cwd: terminal.cwd });
  const source = file === null ? undefined : readIfThere(file);
  if (file === null || source === undefined) return resolve(terminal.cwd, "data");
  const yaml = readYaml(source);
  const directory = yaml.isUsable ? text(field(toPlainData(yaml.document)?.data, "storage"), "data_dir") : undefined;
  return resolve(dirname(file), directory === undefined || directory.includes("${") ? "data" : directory);
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}
