// What every command of the operator reads first: the configuration, and the installation's secrets.
import { EXIT } from "../cli/exit-codes.ts";
import { CliError, type Terminal } from "../cli/terminal.ts";
import type { Configuration } from "../config/configuration.ts";
import { formatFault } from "../config/fault.ts";
import { loadConfiguration } from "../config/load-configuration.ts";
import { OtherSecrets } from "../storage/verify-secrets.ts";
import { type OpenedSecrets, openSecrets } from "../storage/open-secrets.ts";

export function readConfiguration(options: { readonly config?: string }, terminal: Terminal): Configuration {
  const loaded = loadConfiguration({ file: options.config ?? null, env: terminal.env, cwd: terminal.cwd });
  if (loaded.ok) return loaded.configuration;
  const { faults } = loaded;
  // As `config validate --json` says them.
  const document = { ok: false, faults };
  throw new CliError(EXIT.config, "The configuration has faults.", { hints: faults.map(formatFault), document });
}

/** Embedded storage makes what it does not have: asked for where a database is known to be, or is to be made. */
export async function readSecrets({
  storage,
  secrets,
}: Pick<Configuration, "storage" | "secrets">): Promise<Extract<OpenedSecrets, { ok: true }>> {
  const opened = await openSecrets({ ...storage, ...secrets });
  if (opened.ok) return opened;
  throw new CliError(EXIT.config, "The secrets have faults.", { hints: opened.faults });
}

/** For whoever brings a configuration to a database. */
export function refuseOtherSecrets(error: unknown): never {
  if (error instanceof OtherSecrets) throw new CliError(EXIT.config, `${error.message}.`, { hints: [error.fix] });
  throw error;
}
