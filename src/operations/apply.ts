// `patchbay apply` (contract 10): the file's objects into the storage of running gateways, and what differed. A server database is
// written here, and every process hears of it; an embedded one belongs to its gateway, which is asked to read its file again.
import { findApiKey, OPERATOR_KEY_FILE } from "../cli/api-key.ts";
import { EXIT } from "../cli/exit-codes.ts";
import { callGateway } from "../cli/gateway-client.ts";
import type { ApplyFileOptions } from "../cli/operations-commands.ts";
import { CliError, say, type Terminal, write } from "../cli/terminal.ts";
import type { Configuration } from "../config/configuration.ts";
import { findFile } from "../config/find-file.ts";
import { applied, type Applied } from "../contract/apply.ts";
import { applyAndCompare } from "../directory/apply-configuration.ts";
import { DataDirInUse } from "../storage/data-dir-lock.ts";
import { type Database, openDatabase } from "../storage/database.ts";
import { createSeal } from "../storage/seal.ts";
import { noDatabase } from "./open-installation.ts";
import { ownAdminUrl } from "./own-listener.ts";
import { readConfiguration, readSecrets, refuseOtherSecrets } from "./read-configuration.ts";

export async function apply(options: ApplyFileOptions, terminal: Terminal): Promise<number> {
  const configuration = readConfiguration(options, terminal);
  const file = findFile({ file: options.config ?? null, env: terminal.env, cwd: terminal.cwd });
  if (file === null)
    throw new CliError(EXIT.notFound, "There is no configuration file to apply.", {
      hints: ["name one: --config FILE, PATCHBAY_CONFIG, or ./patchbay.yaml"],
    });
  const database = await open(configuration);
  const result =
    database === null
      ? await askGateway(configuration, file, options, terminal)
      : await applyHere(database, configuration, file, options);
  await report(result, options, terminal);
  return EXIT.ok;
}

/** Null: a gateway of this machine has it. */
async function open({ storage }: Configuration): Promise<Database | null> {
  const { databaseUrl, migrateUrl, dataDir } = storage;
  try {
    return await openDatabase({ databaseUrl: databaseUrl ?? undefined, migrateUrl: migrateUrl ?? undefined, dataDir });
  } catch (error) {
    if (error instanceof DataDirInUse) return null;
    throw noDatabase(error, (reason) => `The database does not open: ${reason}.`);
  }
}

async function applyHere(
  database: Database,
  configuration: Configuration,
  file: string,
  { dryRun = false }: ApplyFileOptions,
): Promise<Applied> {
  await using opened = new AsyncDisposableStack();
  opened.defer(() => database.close());
  const { encryptionKeys, pepper } = await readSecrets(configuration);
  const seal = createSeal({ keys: encryptionKeys });
  const changes = await applyAndCompare({ database, seal, pepper }, configuration, { dryRun }).catch(
    refuseOtherSecrets,
  );
  return { object: "configuration_applied", file, dry_run: dryRun, changes: [...changes] };
}

/** For a whole file, told as a difference. */
const ANSWER_MS = 60_000;

async function askGateway(
  configuration: Configuration,
  file: string,
  options: ApplyFileOptions,
  terminal: Terminal,
): Promise<Applied> {
  const { operatorKeys, storage } = configuration;
  const { dryRun = false } = options;
  const admin = ownAdminUrl(configuration, options, terminal);
  if (admin === null)
    throw new CliError(EXIT.conflict, "A gateway has the embedded database, and no admin listener to be asked on.", {
      hints: ["set server.admin, or restart the gateway: a start applies the file"],
    });
  const url = new URL(`${admin}/admin/v1/configuration/apply`);
  const key = operatorKeys[0]?.secret ?? findApiKey(undefined, url, terminal, OPERATOR_KEY_FILE, storage.dataDir);
  const response = await callGateway({
    url: url.href,
    headers: { authorization: `Bearer ${key}` },
    makeBody: () => ({
      body: JSON.stringify({ file, dry_run: dryRun }),
      headers: { "content-type": "application/json" },
    }),
    signal: AbortSignal.timeout(ANSWER_MS),
    onRetry: () => undefined,
  });
  return applied.parse(await response.json());
}

const MARKS: Readonly<Record<Applied["changes"][number]["action"], string>> = {
  created: "+",
  changed: "~",
  released: "o",
  removed: "-",
};

async function report(result: Applied, options: ApplyFileOptions, terminal: Terminal): Promise<void> {
  if (options.json === true) {
    await write(terminal.stdout, `${JSON.stringify(result)}\n`);
    return;
  }
  for (const { action, kind, name } of result.changes)
    await write(
      terminal.stdout,
      `${MARKS[action]} ${kind} ${name}${action === "released" ? " (no longer in the file; it stays, and the API may change it)" : ""}\n`,
    );
  const count = result.changes.length === 1 ? "1 change" : `${result.changes.length} changes`;
  await say(terminal, result.dry_run ? `${count}, none of them made (--dry-run).` : `${count} in force.`);
}
