// `patchbay apply`: writes the configuration file's objects into the database, reports the difference and notifies every running process.
import { printJson } from "../cli/print.ts";
import { EXIT } from "../cli/exit-codes.ts";
import type { ApplyFileOptions } from "../cli/operate/operations-commands.ts";
import { CliError, printLine, type Terminal, stripControlCharacters, write } from "../cli/terminal.ts";
import type { Configuration } from "../config/configuration.ts";
import { formatFault } from "../config/fault.ts";
import { findFile } from "../config/find-file.ts";
import type { ApplyResult } from "../contract/admin/apply.ts";
import { applyAndCompare } from "../directory/apply-configuration.ts";
import { asRecord } from "../lib/json/json-guards.ts";
import type { ChangedValue } from "../directory/changed-values.ts";
import type { SetUpChange } from "../directory/set-up-difference.ts";
import type { Database } from "../storage/database.ts";
import { createSeal } from "../storage/secrets/seal.ts";
import { readLocalSpeech } from "../start/local-speech.ts";
import { openToChange } from "./open-installation.ts";
import { readLoaded, readSecrets, refuseOtherSecrets } from "./read-configuration.ts";

export async function apply(options: ApplyFileOptions, terminal: Terminal): Promise<number> {
  // The routes of a file without any are those of its start.
  const { configuration, warnings } = readLoaded(options, terminal, { readLocalSpeech });
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
    changes: changes.map(({ action, kind, name }) => ({ action, kind, name })),
    warnings: warnings.map(formatFault),
  };
  if (options.json === true) await printJson(terminal, result);
  else await report(result, changes, terminal);
  return EXIT.ok;
}

async function applyToDatabase(
  database: Database,
  configuration: Configuration,
  { dryRun = false }: ApplyFileOptions,
): Promise<readonly SetUpChange[]> {
  await using opened = new AsyncDisposableStack();
  opened.defer(() => database.close());
  const { encryptionKeys, pepper } = await readSecrets(configuration);
  const seal = createSeal({ keys: encryptionKeys });
  return await applyAndCompare({ database, seal, pepper }, configuration, { dryRun }).catch(refuseOtherSecrets);
}

const MARKS: Readonly<Record<ApplyResult["changes"][number]["action"], string>> = {
  created: "+",
  changed: "~",
  released: "o",
  removed: "-",
};

/** An object a line, and below it each value that changed. */
async function report(result: ApplyResult, changes: readonly SetUpChange[], terminal: Terminal): Promise<void> {
  for (const { action, kind, name, values } of changes) {
    const note = action === "released" ? " (no longer in the file: now unmanaged, editable through the API)" : "";
    const lines = [`${MARKS[action]} ${kind} ${name}${note}`, ...(action === "changed" ? values.map(valueLine) : [])];
    await write(terminal.stdout, stripControlCharacters(`${lines.join("\n")}\n`));
  }
  for (const warning of result.warnings) await printLine(terminal, `warning: ${warning}`);
  const count = result.changes.length === 1 ? "1 change" : `${result.changes.length} changes`;
  await printLine(terminal, result.dry_run ? `${count}, none applied (--dry-run).` : `${count} in force.`);
}

/** Secrets are not in the values: of a credential they have the last four characters. */
function valueLine({ path, before, after }: ChangedValue): string {
  return `    ${path}: ${valueText(before)} -> ${valueText(after)}`;
}

const MOST_CHARACTERS = 120;

function valueText(value: unknown): string {
  if (value === null || value === undefined) return "none";
  const text = typeof value === "string" ? value : (targetName(value) ?? JSON.stringify(value));
  return text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS)}…` : text;
}

/** A whole target of a route is its name. */
function targetName(value: unknown): string | null {
  const { connection, model } = asRecord(value);
  return typeof connection === "string" && typeof model === "string" ? `${connection}/${model}` : null;
}
