// Finds the configuration file: `--config FILE`, PATCHBAY_CONFIG or ./patchbay.yaml. Separate from the parser, which commands that only call a gateway do not
// need.
import { statSync } from "node:fs";
import { resolve } from "node:path";

export interface Search {
  /** The value of `--config`. Null: search. */
  readonly file: string | null;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
}

const DEFAULT_NAME = "patchbay.yaml";

/** Absolute path of the file to read. An explicit file is returned even if it is missing, which the reader reports. */
export function findFile({ file, env, cwd }: Search): string | null {
  const explicitFile = file ?? env["PATCHBAY_CONFIG"];
  if (explicitFile !== undefined && explicitFile !== "") return resolve(cwd, explicitFile);
  const defaultFile = resolve(cwd, DEFAULT_NAME);
  return statSync(defaultFile, { throwIfNoEntry: false }) === undefined ? null : defaultFile;
}
