// `patchbay apply`: writes the configuration file's objects into the database, reports the difference and notifies every running process.
import { EXIT } from "../cli/exit-codes.ts";
import type { ApplyFileOptions } from "../cli/operate/operations-commands.ts";
import { CliError, printLine, type Terminal, write } from "../cli/terminal.ts";
import type { Configuration } from "../config/configuration.ts";
import { formatFault } from "../config/fault.ts";
import { findFile } from "../config/find-file.ts";
import type { ApplyResult } from "../contract/admin/apply.ts";
import { applyAndCompare } from "../directory/apply-configuration.ts";
import type { Database } from "../storage/database.ts";
import { createSeal } from "../storage/secrets/seal.ts";
import { openToChange } from "./open-installation.ts";
import { readLoaded, readSecrets, refuseOtherSecrets } from "./read-configuration.ts";

export async function apply(options: ApplyFileOptions, terminal: Terminal): Promise<number> {
  const { configuration, warnings } = readLoaded(options, terminal);
  const file = findFile({ file: options.config ?? null, env: terminal.env, cwd: terminal.cwd });
  if (file === null)
    throw new CliError(EXIT.notFound, "There is no configuration file to apply.", {
      hints: ["name one: --config FILE, PATCHBAY_CONFIG, or ./patchbay.yaml"],
    });
  const database = await openToChange(configuration, terminal);
  const changes = await applyToDatabase(database, configuration, options);
  const result: ApplyResult = {
    object: "configuration_applied",
    file,
    dry_run: options.dryRun === true,
    changes: [...changes],
    warnings: warnings.map(formatFault),
  };
  await report(result, options, terminal);
  return EXIT.ok;
}

async function applyToDatabase(
  database: Database,
  configuration: Configuration,
  { dryRun = false }: ApplyFileOptions,
): Promise<ApplyResult["changes"]> {
  await using opened = new AsyncDisposableStack();
  opened.defer(() => database.close());
  const { encryptionKeys, pepper } = await readSecrets(configuration);
  const seal = createSeal({ keys: encryptionKeys });
  const changes = await applyAndCompare({ database, seal, pepper }, configuration, { dryRun }).catch(
    refuseOtherSecrets,
  );
  return [...changes];
}

const MARKS: Readonly<Record<ApplyResult["changes"][number]["action"], string>> = {
  created: "+",
  changed: "~",
  released: "o",
  removed: "-",
};

async function report(result: ApplyResult, options: ApplyFileOptions, terminal: Terminal): Promise<void> {
  if (options.json === true) {
    await write(terminal.stdout, `${JSON.stringify(result)}\n`);
    return;
  }
  for (const { action, kind, name } of result.changes)
    await write(
      terminal.stdout,
      `${MARKS[action]} ${kind} ${name}${action === "released" ? " (no longer in the file: now unmanaged, editable through the API)" : ""}\n`,
    );
  for (const warning of result.warnings) await printLine(terminal, `warning: ${warning}`);
  const count = result.changes.length === 1 ? "1 change" : `${result.changes.length} changes`;
  await printLine(terminal, result.dry_run ? `${count}, none applied (--dry-run).` : `${count} in force.`);
}
