// `patchbay audit verify`: verifies the hash chain of the audit log, with or without a running gateway.
import { readCheckpoint } from "../admin/audit/audit-checkpoint.ts";
import { chainOf, verifyAudit } from "../admin/audit/verify-audit.ts";
import type { AuditVerifyOptions } from "../cli/operate/operations-commands.ts";
import { EXIT } from "../cli/exit-codes.ts";
import { CliError, printLine, type Terminal, write } from "../cli/terminal.ts";
import type { AuditVerification } from "../contract/admin/audit.ts";
import { objectStoreSettings, openObjectStore } from "../objects/store.ts";
import { wholeObjects } from "../objects/whole-objects.ts";
import { createSeal } from "../storage/secrets/seal.ts";
import { openInstallation } from "./open-installation.ts";
import { readConfiguration, readSecrets } from "./read-configuration.ts";

export async function auditVerify(options: AuditVerifyOptions, terminal: Terminal): Promise<number> {
  const configuration = readConfiguration(options, terminal);
  await using opened = new AsyncDisposableStack();
  const database = await openInstallation(configuration, terminal, { asItIs: true, embedded: "either" });
  opened.defer(() => database.close());
  const secrets = await readSecrets(configuration);
  const objects = await openObjectStore(objectStoreSettings(configuration.storage));
  opened.defer(() => objects.close());
  const seal = createSeal({ keys: secrets.encryptionKeys });
  const checkpoint = await readCheckpoint({ seal, store: wholeObjects(objects) });
  const { workspace } = options;
  const chain = workspace === undefined ? null : await chainOf(database, workspace, checkpoint);
  if (chain === null && workspace !== undefined)
    throw new CliError(EXIT.notFound, "Unknown workspace. Use the id for a removed one.");
  const verification = await verifyAudit(database, { chain, checkpoint });
  await report(verification, options, terminal);
  return verification.ok ? EXIT.ok : EXIT.unexpected;
}

async function report(verification: AuditVerification, options: AuditVerifyOptions, terminal: Terminal): Promise<void> {
  if (options.json === true) {
    await write(terminal.stdout, `${JSON.stringify(verification)}\n`);
    return;
  }
  for (const { chain, message } of verification.findings) await write(terminal.stdout, `${chain}: ${message}\n`);
  const { chains, entries, checkpoint_at: at, findings } = verification;
  const verdict = verification.ok ? "nothing was changed" : `${findings.length} findings`;
  await printLine(terminal, `${entries} entries in ${chains} chains: ${verdict}.`);
  // A checkpoint that does not match exists, and the findings above report it.
  if (findings.some(({ kind }) => kind === "checkpoint")) return;
  await printLine(
    terminal,
    at === null
      ? "No signed checkpoint yet: a truncated or completely rewritten log cannot be detected."
      : `Compared with the signed checkpoint of ${at}.`,
  );
}
