// `patchbay secrets rotate`: wraps every data key with the first key of `secrets.encryption_keys`, which every process must have first, with
// the old key after it. Afterwards only expiring data needs the old key, which may be removed later [tenancy.rotate].
import type { RotateSecretsOptions } from "../cli/operate/operations-commands.ts";
import { EXIT } from "../cli/exit-codes.ts";
import { CliError, printLine, type Terminal, write } from "../cli/terminal.ts";
import type { Database } from "../storage/database.ts";
import {
  countKeyUse,
  countLargeResults,
  type KeyUse,
  rewrapDataKeys,
  sealUnderDataKeys,
} from "../storage/secrets/rotate-keys.ts";
import { compareSecrets } from "../storage/secrets/verify-secrets.ts";
import { createSeal, type Seal } from "../storage/secrets/seal.ts";
import { bypassRls } from "../storage/system.ts";
import { reasonOf } from "./doctor/finding.ts";
import { openToChange } from "./open-installation.ts";
import { readConfiguration, readSecrets, refuseOtherSecrets } from "./read-configuration.ts";

export async function rotateSecrets(options: RotateSecretsOptions, terminal: Terminal): Promise<number> {
  const configuration = readConfiguration(options, terminal);
  await using opened = new AsyncDisposableStack();
  const database = await openToChange(configuration, terminal);
  opened.defer(() => database.close());
  const { pepper, encryptionKeys } = await readSecrets(configuration);
  const ring = createSeal({ keys: encryptionKeys });
  // A key that a running gateway lacks would make the credentials unreadable for it.
  const other = await compareSecrets(bypassRls(database, "installation").db, { pepper, seal: ring });
  if (other !== null) refuseOtherSecrets(other);
  const wrapped = await rotate(database, ring);
  const keys = await countKeyUse(database, ring);
  const largeResults = await countLargeResults(database);
  if (options.json === true)
    await write(
      terminal.stdout,
      `${JSON.stringify({ wrapped, keys: keys.map((key) => describeKey(key, ring)), large_results: largeResults })}\n`,
    );
  else await report({ wrapped, keys, largeResults }, ring, terminal);
  return EXIT.ok;
}

async function rotate(database: Database, ring: Seal): Promise<number> {
  try {
    await sealUnderDataKeys(database, ring);
    return await rewrapDataKeys(database, ring);
  } catch (error) {
    throw new CliError(EXIT.config, `Some data keys could not be rewrapped: ${reasonOf(error)}`, {
      hints: [
        "add every key that is still needed to secrets.encryption_keys, the new one first, and run the command again",
      ],
    });
  }
}

interface Rotation {
  readonly wrapped: number;
  readonly keys: readonly KeyUse[];
  readonly largeResults: number;
}

async function report({ wrapped, keys, largeResults }: Rotation, ring: Seal, terminal: Terminal): Promise<void> {
  await printLine(terminal, `${wrapped} data keys rewrapped with key ${ring.keyIds[0]}.`);
  for (const key of keys) {
    const { status, data_keys: dataKeys, answers } = describeKey(key, ring);
    const needs = `${dataKeys} data keys, ${answers} stored answers and job contents`;
    await write(terminal.stdout, `${key.keyId}  ${status.padEnd(8)}  ${needs}\n`);
  }
  const unusedKeys = keys.filter((key) => key.keyId !== ring.keyIds[0] && key.dataKeys + key.answers === 0);
  for (const { keyId } of unusedKeys)
    await printLine(
      terminal,
      largeResults === 0
        ? `No data needs key ${keyId}: once every process lists ${ring.keyIds[0]} first, it can be removed from secrets.encryption_keys.`
        : `Key ${keyId} is not needed by any row; ${largeResults} large results in the object store may need it until they expire.`,
    );
}

function describeKey({ keyId, dataKeys, answers }: KeyUse, ring: Seal) {
  const at = ring.keyIds.indexOf(keyId);
  const status = at === 0 ? "current" : at > 0 ? "old" : "missing";
  return { key: keyId, status, data_keys: dataKeys, answers };
}
