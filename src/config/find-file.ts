// Which configuration file is meant: that of `--config FILE`, PATCHBAY_CONFIG or ./patchbay.yaml. Apart from what reads it, which a command
// that asks a gateway has no need of.
import { statSync } from "node:fs";
import { resolve } from "node:path";

export interface Search {
  /** What `--config` named; null: search. */
  readonly file: string | null;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
}

const DEFAULT_NAME = "patchbay.yaml";

/** Absolute path of the file to read; one that was named is taken even if it is missing, which is then the fault. */
export function findFile({ file, env, cwd }: Search): string | null {
  const named = file ?? env["PATCHBAY_CONFIG"];
  if (named !== undefined && named !== "") return resolve(cwd, named);
  const inPlace = resolve(cwd, DEFAULT_NAME);
  return statSync(inPlace, { throwIfNoEntry: false }) === undefined ? null : inPlace;
}
