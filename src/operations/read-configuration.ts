// Reads the configuration and the installation's secrets for an operator's command, or ends it with their errors.
import { EXIT } from "../cli/exit-codes.ts";
import { CliError, type Terminal } from "../cli/terminal.ts";
import type { Configuration } from "../config/configuration.ts";
import { formatFault } from "../config/fault.ts";
import { type LoadOptions, type LoadResult, loadConfiguration } from "../config/load-configuration.ts";
import { OtherSecrets } from "../storage/secrets/verify-secrets.ts";
import { type OpenedSecrets, openSecrets } from "../storage/secrets/open-secrets.ts";

export function readConfiguration(options: { readonly config?: string }, terminal: Terminal): Configuration {
  return readLoaded(options, terminal).configuration;
}

/** The same, with the warnings. `readLocalSpeech`: for a command that uses the objects of a file without workspaces. */
export function readLoaded(
  options: { readonly config?: string },
  terminal: Terminal,
  how: Pick<LoadOptions, "readLocalSpeech"> = {},
): Extract<LoadResult, { readonly ok: true }> {
  const { env, cwd } = terminal;
  const loaded = loadConfiguration({ file: options.config ?? null, env, cwd, ...how });
  if (loaded.ok) return loaded;
  const { faults } = loaded;
  // The same document as `config validate --json`.
  const document = { ok: false, faults };
  throw new CliError(EXIT.config, "The configuration is invalid.", { hints: faults.map(formatFault), document });
}

/** Embedded storage creates missing secrets, so call this only if a database exists or is about to be created. */
export async function readSecrets({
  storage,
  secrets,
}: Pick<Configuration, "storage" | "secrets">): Promise<Extract<OpenedSecrets, { ok: true }>> {
  const opened = await openSecrets({ ...storage, ...secrets });
  if (opened.ok) return opened;
  throw new CliError(EXIT.config, "The secrets are invalid.", { hints: opened.faults });
}

/** Turns `OtherSecrets` into an error of the command line. */
export function refuseOtherSecrets(error: unknown): never {
  if (error instanceof OtherSecrets) throw new CliError(EXIT.config, `${error.message}.`, { hints: [error.fix] });
  throw error;
}
