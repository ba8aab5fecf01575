// What backup, restore and the move to a server have in common: they need the embedded installation to themselves.
import { EXIT } from "../cli/exit-codes.ts";
import { CliError, type Terminal } from "../cli/terminal.ts";
import type { Configuration } from "../config/configuration.ts";
import { formatFault } from "../config/fault.ts";
import { loadConfiguration } from "../config/load-configuration.ts";
import { type DataDirLock, DataDirInUse, lockDataDir } from "../storage/data-dir-lock.ts";

export function readConfiguration(options: { readonly config?: string }, terminal: Terminal): Configuration {
  const loaded = loadConfiguration({ file: options.config ?? null, env: terminal.env, cwd: terminal.cwd });
  if (loaded.ok) return loaded.configuration;
  throw new CliError(EXIT.config, "The configuration has faults.", { hints: loaded.faults.map(formatFault) });
}

/** The embedded engine cannot be read beside a running gateway, so nothing here is done online. */
export async function holdDataDir(dataDir: string): Promise<DataDirLock> {
  try {
    return await lockDataDir(dataDir);
  } catch (error) {
    if (error instanceof DataDirInUse)
      throw new CliError(EXIT.conflict, error.message, {
        hints: ["stop the gateway first: the embedded database cannot be copied while it is written"],
      });
    throw error;
  }
}
