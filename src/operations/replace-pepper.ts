// `patchbay secrets replace-pepper`: replaces the pepper that the database's API keys were hashed with by the configured one, which revokes
// all keys [tenancy.pepper-replace]. Every other command refuses a different pepper [tenancy.pepper].
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { CLI_KEY_FILE, OPERATOR_KEY_FILE } from "../cli/api-key.ts";
import { confirm } from "../cli/confirm.ts";
import { EXIT } from "../cli/exit-codes.ts";
import type { ReplacePepperOptions } from "../cli/operate/operations-commands.ts";
import { printLine, type Terminal, write } from "../cli/terminal.ts";
import { replacePepper as replace } from "../storage/secrets/key-pepper.ts";
import { openToChange } from "./open-installation.ts";
import { readConfiguration, readSecrets } from "./read-configuration.ts";

export async function replacePepper(
  options: ReplacePepperOptions,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<number> {
  const configuration = readConfiguration(options, terminal);
  await using opened = new AsyncDisposableStack();
  const database = await openToChange(configuration, terminal);
  opened.defer(() => database.close());
  const { pepper } = await readSecrets(configuration);
  if (options.yes !== true)
    await confirm("Invalidate every API key of this database that was created with another pepper?", terminal, signal);
  const replaced = await replace(database, pepper);
  if (replaced !== null) await forgetSavedKeys(configuration.storage.dataDir);
  const revokedKeys = replaced?.revokedKeys ?? 0;
  if (options.json === true)
    await write(
      terminal.stdout,
      `${JSON.stringify({ object: "pepper_replaced", is_new: replaced !== null, revoked_keys: revokedKeys })}\n`,
    );
  else if (replaced === null) await printLine(terminal, "The database already uses this pepper; nothing was changed.");
  else
    await printLine(
      terminal,
      `${revokedKeys} keys invalidated. The next start recreates those of the configuration; configure this pepper for every process.`,
    );
  return EXIT.ok;
}

/** Removes the saved keys, which the next start then creates. */
async function forgetSavedKeys(dataDir: string): Promise<void> {
  for (const name of [CLI_KEY_FILE, OPERATOR_KEY_FILE]) await rm(join(dataDir, name), { force: true });
}
