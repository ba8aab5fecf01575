// `patchbay audit verify` (reliability 6): the audit log judged without a gateway. On embedded storage the gateway must be stopped,
// or be asked itself.
import { join } from "node:path";
import { readCheckpoint } from "../admin/audit-checkpoint.ts";
import { chainOf, verifyAudit } from "../admin/verify-audit.ts";
import type { AuditVerifyOptions } from "../cli/operations-commands.ts";
import { EXIT } from "../cli/exit-codes.ts";
import { CliError, say, type Terminal, write } from "../cli/terminal.ts";
import type { Configuration } from "../config/configuration.ts";
import type { AuditVerification } from "../contract/audit.ts";
import { objectStoreSettings, openObjectStore } from "../objects/store.ts";
import { wholeObjects } from "../objects/whole-objects.ts";
import { DataDirInUse } from "../storage/data-dir-lock.ts";
import { type Database, openDatabase } from "../storage/database.ts";
import { openSecrets } from "../storage/open-secrets.ts";
import { EMBEDDED_FOLDER } from "../storage/pglite.ts";
import { createSeal } from "../storage/seal.ts";
import { statOrNull } from "./check-files.ts";
import { readConfiguration } from "./embedded.ts";
import { reasonOf } from "./finding.ts";

export async function auditVerify(options: AuditVerifyOptions, terminal: Terminal): Promise<number> {
  const configuration = readConfiguration(options, terminal);
  const { storage } = configuration;
  if (storage.databaseUrl === null && (await statOrNull(join(storage.dataDir, EMBEDDED_FOLDER))) === null)
    throw new CliError(EXIT.notFound, `There is no embedded database in ${storage.dataDir}.`);
  const secrets = await openSecrets({ ...configuration.storage, ...configuration.secrets });
  if (!secrets.ok) throw new CliError(EXIT.config, "The secrets have faults.", { hints: secrets.faults });
  await using opened = new AsyncDisposableStack();
  const database = await open(configuration);
  opened.defer(() => database.close());
  const objects = await openObjectStore(objectStoreSettings(storage));
  opened.defer(() => objects.close());
  const seal = createSeal({ keys: secrets.encryptionKeys });
  const checkpoint = await readCheckpoint({ seal, store: wholeObjects(objects) });
  const chain = options.workspace === undefined ? null : await chainOf(database, options.workspace);
  const verification = await verifyAudit(database, { chain, checkpoint });
  await report(verification, options, terminal);
  return verification.ok ? EXIT.ok : EXIT.unexpected;
}

async function open({ storage }: Configuration): Promise<Database> {
  try {
    return await openDatabase({
      databaseUrl: storage.databaseUrl ?? undefined,
      dataDir: storage.dataDir,
      poolSize: 1,
      asItIs: true,
    });
  } catch (error) {
    if (error instanceof DataDirInUse)
      throw new CliError(EXIT.conflict, error.message, {
        hints: ["stop the gateway, or ask it: GET /admin/v1/audit/verification on its admin listener"],
      });
    throw new CliError(EXIT.upstream, `The database does not open: ${reasonOf(error)}.`);
  }
}

async function report(verification: AuditVerification, options: AuditVerifyOptions, terminal: Terminal): Promise<void> {
  if (options.json === true) {
    await write(terminal.stdout, `${JSON.stringify(verification)}\n`);
    return;
  }
  for (const { chain, message } of verification.findings) await write(terminal.stdout, `${chain}: ${message}\n`);
  const { chains, entries, checkpoint_at: at, findings } = verification;
  const verdict = verification.ok ? "nothing was changed" : `${findings.length} findings`;
  await say(terminal, `${entries} entries in ${chains} chains: ${verdict}.`);
  await say(
    terminal,
    at === null
      ? "There is no signed checkpoint yet: an end that was cut off, or a log written wholly anew, cannot be seen."
      : `Held against the signed checkpoint of ${at}.`,
  );
}
