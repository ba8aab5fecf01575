// Creates the keys that an installation lacks at start [configuration.operator-key]: the operator's, and the app's for a bootstrapped one. A self-check then
// transcribes the bundled sample on the sandbox through the public API, at no cost.
import { openAsBlob } from "node:fs";
import { access, chmod, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { sql } from "kysely";
import { generateKey, hashKey, visibleParts } from "../auth/key-format.ts";
import { CLI_KEY_FILE, OPERATOR_KEY_FILE } from "../cli/api-key.ts";
import { samplePath } from "../cli/package-root.ts";
import { newId } from "../contract/ids.ts";
import { SCOPES } from "../contract/scopes.ts";
import { transcriptionEnvelope } from "../contract/transcription.ts";
import { BY_START, OPERATOR_WORKSPACE, OWNER_APP, OWNER_WORKSPACE } from "../directory/bootstrap.ts";
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

interface AppKeys {
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
    const app = isBootstrapped ? await readOwnerApp(tx) : null;
    const appKeys =
      app !== null && (app.keys === 0 || isLost(hasKeyFile)) ? await createAppKeys(tx, services, app, keyFile) : null;
    const operators = await readOperatorKeys(tx);
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

interface OwnerApp {
  readonly workspaceId: string;
  readonly appId: string;
  /** Number of keys that starts created for it. */
  readonly keys: number;
}

async function readOwnerApp(tx: SystemTransaction): Promise<OwnerApp> {
  const { rows } = await sql<OwnerApp>`
    select w.id as "workspaceId", a.id as "appId",
      (select count(*)::int from api_keys k where k.app_id = a.id and k.managed_by = ${BY_START} and k.expires_at is null) as keys
    from apps a join workspaces w on w.id = a.workspace_id
    where w.slug = ${OWNER_WORKSPACE} and a.slug = ${OWNER_APP}`.execute(tx);
  const [app] = rows;
  if (app === undefined) throw new Error("the bootstrap created no app");
  return app;
}

/** Counts keys, in total and valid ones. */
async function readOperatorKeys(tx: SystemTransaction): Promise<{ readonly all: number; readonly byStart: number }> {
  const { rows } = await sql<{ all: number; byStart: number }>`
    select count(*)::int as all, (count(*) filter (where managed_by = ${BY_START}))::int as "byStart" from api_keys
    where role = 'operator' and revoked_at is null and (expires_at is null or expires_at > patchbay_now())`.execute(tx);
  return rows[0] ?? { all: 0, byStart: 0 };
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
  await insertKey(tx, pepper, keys.appKey, { ...owner, name: "default" });
  await insertKey(tx, pepper, keys.selfCheckKey, { ...owner, name: "self-check", minutes: SELF_CHECK_MINUTES });
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
  const workspaceId = ownerId ?? (await requireOperatorWorkspace(tx));
  await insertKey(tx, pepper, secret, { workspaceId, appId: null, role: "operator", name: "operator" });
}

async function requireOperatorWorkspace(tx: SystemTransaction): Promise<string> {
  await tx
    .insertInto("workspaces")
    .values({ id: newId("workspace"), slug: OPERATOR_WORKSPACE, plan: null, managed_by: "api" })
    .onConflict((conflict) => conflict.column("slug").doNothing())
    .execute();
  const row = await tx
    .selectFrom("workspaces")
    .select("id")
    .where("slug", "=", OPERATOR_WORKSPACE)
    .executeTakeFirstOrThrow();
  return row.id;
}

interface NewKey {
  readonly workspaceId: string;
  readonly appId: string | null;
  readonly role: "member" | "operator";
  readonly name: string;
  /** How long the key is valid. Absent: until it is revoked. */
  readonly minutes?: number;
}

async function insertKey(tx: SystemTransaction, pepper: Buffer, secret: string, key: NewKey): Promise<void> {
  await tx
    .insertInto("api_keys")
    .values({
      id: newId("key"),
      workspace_id: key.workspaceId,
      app_id: key.appId,
      name: key.name,
      role: key.role,
      scopes: [...SCOPES],
      secret_hash: hashKey(pepper, secret),
      ...visibleParts(secret),
      managed_by: BY_START,
      ...(key.minutes === undefined
        ? {}
        : { expires_at: sql<Date>`patchbay_now() + make_interval(mins => ${key.minutes})` }),
    })
    .execute();
}

/** Transcribes the bundled sample with a test key and returns the result as one line. A failure does not stop the gateway. */
export function selfCheck(address: string, samplePath: string, key: string): Promise<string> {
  return transcribeSample(address, samplePath, key).catch(
    (error: unknown) => `FAILED: ${error instanceof Error ? error.message : "no answer"}`,
  );
}

async function transcribeSample(address: string, samplePath: string, key: string): Promise<string> {
  const form = new FormData();
  form.set("file", await openAsBlob(samplePath, { type: "audio/mpeg" }), "dialogue.mp3");
  const response = await fetch(`${address}/v1/transcription`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}` },
    body: form,
    signal: AbortSignal.timeout(30_000),
  });
  const body: unknown = await response.json();
  const parsed = transcriptionEnvelope.safeParse(body);
  return parsed.success
    ? `${parsed.data.content} (${parsed.data.duration_seconds} s measured)`
    : `FAILED with HTTP ${response.status}`;
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
