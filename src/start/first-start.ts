// Creates the keys that an installation lacks at start [configuration.operator-key]: the operator's, and the app's for a bootstrapped one.
import { access, chmod, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { generateKey, hashKey, visibleParts } from "../auth/key-format.ts";
import { CLI_KEY_FILE, OPERATOR_KEY_FILE } from "../cli/api-key.ts";
import { samplePath } from "../cli/package-root.ts";
import { newId } from "../contract/ids.ts";
import { SCOPES } from "../contract/scopes.ts";
import {
  countOperatorKeys,
  insertStartKey,
  type OwnerApp,
  readOwnerApp,
  upsertOperatorWorkspace,
} from "../directory/store/bootstrap.ts";
import type { Database, SystemTransaction } from "../storage/database.ts";
import { lockDirectory } from "../storage/directory-state.ts";
import { bypassRls } from "../storage/system.ts";
import { transact } from "../storage/transact.ts";

export interface FirstStart {
  readonly samplePath: string;
  /** File with the key of the bootstrapped app. Null: this machine has none. */
  readonly keyFile: string | null;
  /** File in which a start saved the operator's key. Null: the configuration names the key, or the file is on another machine. */
  readonly operatorKeyFile: string | null;
  /** Created by this start. Null: created by an earlier one, or the installation has keys of its own. */
  readonly appKeys: AppKeys | null;
  readonly hasNewOperatorKey: boolean;
}

export interface AppKeys {
  readonly appKey: string;
  readonly selfCheckKey: string;
}

interface FirstStartServices {
  readonly database: Database;
  readonly pepper: Buffer;
  readonly dataDir: string;
  /** The owner's workspace and app were created by a start, not by a configuration file. */
  readonly isBootstrapped: boolean;
  /** The database belongs to this data directory only. */
  readonly isEmbedded: boolean;
}

const SELF_CHECK_MINUTES = 5;

/** If several processes start together on one database, one of them creates the keys and saves them in its own data directory. */
export async function firstStart(services: FirstStartServices): Promise<FirstStart> {
  const { database, dataDir, isBootstrapped, isEmbedded } = services;
  const keyFile = join(dataDir, CLI_KEY_FILE);
  const operatorKeyFile = join(dataDir, OPERATOR_KEY_FILE);
  const [hasKeyFile, hasOperatorKeyFile] = [await exists(keyFile), await exists(operatorKeyFile)];
  // An embedded database has only this data directory: if the file is missing, the key's secret is lost.
  const isLost = (isSaved: boolean) => isEmbedded && !isSaved;
  const created = await transact(bypassRls(database, "installation"), async (tx) => {
    await lockDirectory(tx);
    const app = isBootstrapped ? await requireOwnerApp(tx) : null;
    const appKeys =
      app !== null && (app.keys === 0 || isLost(hasKeyFile)) ? await createAppKeys(tx, services, app, keyFile) : null;
    const operators = await countOperatorKeys(tx);
    const needsOperator = operators.all === 0 || (operators.all === operators.byStart && isLost(hasOperatorKeyFile));
    if (needsOperator) await createOperatorKey(tx, services, app?.workspaceId ?? null, operatorKeyFile);
    return { appKeys, hasNewOperatorKey: needsOperator, operators };
  });
  const isOperatorSaved = created.hasNewOperatorKey || (hasOperatorKeyFile && created.operators.byStart > 0);
  return {
    samplePath: samplePath(),
    keyFile: created.appKeys !== null || (isBootstrapped && hasKeyFile) ? keyFile : null,
    operatorKeyFile: isOperatorSaved ? operatorKeyFile : null,
    appKeys: created.appKeys,
    hasNewOperatorKey: created.hasNewOperatorKey,
  };
}

async function requireOwnerApp(tx: SystemTransaction): Promise<OwnerApp> {
  const app = await readOwnerApp(tx);
  if (app === undefined) throw new Error("the bootstrap created no app");
  return app;
}

async function createAppKeys(
  tx: SystemTransaction,
  { pepper }: FirstStartServices,
  { workspaceId, appId }: OwnerApp,
  file: string,
): Promise<AppKeys> {
  const keys = { appKey: generateKey("live"), selfCheckKey: generateKey("test") };
  // The file is written first: a stored key that was never shown would be a security hole, whereas a file without its key is simply replaced.
  await writeSecret(file, keys.appKey);
  const owner = { workspaceId, appId, role: "member" as const };
  await storeKey(tx, pepper, keys.appKey, { ...owner, name: "default" });
  await storeKey(tx, pepper, keys.selfCheckKey, { ...owner, name: "self-check", minutes: SELF_CHECK_MINUTES });
  return keys;
}

async function createOperatorKey(
  tx: SystemTransaction,
  { pepper }: FirstStartServices,
  ownerId: string | null,
  file: string,
): Promise<void> {
  const secret = generateKey("root");
  await writeSecret(file, secret);
  const workspaceId = ownerId ?? (await upsertOperatorWorkspace(tx));
  await storeKey(tx, pepper, secret, { workspaceId, appId: null, role: "operator", name: "operator" });
}

interface NewKey {
  readonly workspaceId: string;
  readonly appId: string | null;
  readonly role: "member" | "operator";
  readonly name: string;
  /** How long the key is valid. Absent: until it is revoked. */
  readonly minutes?: number;
}

async function storeKey(tx: SystemTransaction, pepper: Buffer, secret: string, key: NewKey): Promise<void> {
  const columns = {
    id: newId("key"),
    workspace_id: key.workspaceId,
    app_id: key.appId,
    name: key.name,
    role: key.role,
    scopes: [...SCOPES],
    secret_hash: hashKey(pepper, secret),
    ...visibleParts(secret),
  };
  await insertStartKey(tx, columns, key.minutes);
}

async function writeSecret(path: string, secret: string): Promise<void> {
  await writeFile(path, `${secret}\n`, { mode: 0o600 });
  await chmod(path, 0o600);
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
