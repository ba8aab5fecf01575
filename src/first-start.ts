// The first start without a configuration file (contract 10): an app key for the owner, an operator key, and a self-check
// that sends the bundled sample through the sandbox over the public API, so that nothing is spent.
import { openAsBlob } from "node:fs";
import { access, chmod, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { sql } from "kysely";
import { generateKey, hashKey, visibleParts } from "./auth/key-format.ts";
import { CLI_KEY_FILE, OPERATOR_KEY_FILE } from "./cli/api-key.ts";
import { samplePath } from "./cli/package-root.ts";
import { newId } from "./contract/ids.ts";
import { SCOPES } from "./contract/scopes.ts";
import { transcriptionEnvelope } from "./contract/transcription.ts";
import type { Database } from "./storage/database.ts";
import { installation } from "./storage/system.ts";

export interface FirstStart {
  readonly keyFile: string;
  readonly operatorKeyFile: string;
  readonly samplePath: string;
  /** Keys made just now; null when an earlier start made them. */
  readonly created: { readonly appKey: string; readonly selfCheckKey: string } | null;
}

interface FirstStartServices {
  readonly database: Database;
  readonly pepper: Buffer;
  readonly dataDir: string;
}

const SELF_CHECK_MINUTES = 5;

export async function firstStart(services: FirstStartServices): Promise<FirstStart> {
  const { database, dataDir } = services;
  const files = {
    keyFile: join(dataDir, CLI_KEY_FILE),
    operatorKeyFile: join(dataDir, OPERATOR_KEY_FILE),
    samplePath: samplePath(),
  };
  const app = await installation(database)
    .db.selectFrom("apps")
    .innerJoin("workspaces", "workspaces.id", "apps.workspace_id")
    .select(["apps.id", "apps.workspace_id"])
    .where("workspaces.slug", "=", "owner")
    .where("apps.slug", "=", "default")
    .executeTakeFirstOrThrow();
  const existing = await installation(database)
    .db.selectFrom("api_keys")
    .select("id")
    .where("managed_by", "=", "start")
    .where("expires_at", "is", null)
    .executeTakeFirst();
  if (existing !== undefined && (await exists(files.keyFile))) return { ...files, created: null };

  const created = { appKey: generateKey("live"), selfCheckKey: generateKey("test") };
  const operatorKey = generateKey("root");
  const scopes = [...SCOPES];
  // The files first: a key that is stored and that nobody ever saw would be a hole, a file without its key is only replaced.
  await writeSecret(files.keyFile, created.appKey);
  await writeSecret(files.operatorKeyFile, operatorKey);
  await installation(database).transaction(async (tx) => {
    const put = (
      secret: string,
      values: {
        readonly name: string;
        readonly role: "member" | "operator";
        readonly app_id: string | null;
        readonly minutes: number | null;
      },
    ) =>
      tx
        .insertInto("api_keys")
        .values({
          id: newId("key"),
          workspace_id: app.workspace_id,
          app_id: values.app_id,
          name: values.name,
          role: values.role,
          scopes,
          secret_hash: hashKey(services.pepper, secret),
          ...visibleParts(secret),
          managed_by: "start",
          ...(values.minutes === null
            ? {}
            : { expires_at: sql<Date>`patchbay_now() + make_interval(mins => ${values.minutes})` }),
        })
        .execute();
    await put(created.appKey, { name: "default", role: "member", app_id: app.id, minutes: null });
    await put(created.selfCheckKey, {
      name: "self-check",
      role: "member",
      app_id: app.id,
      minutes: SELF_CHECK_MINUTES,
    });
    await put(operatorKey, { name: "operator", role: "operator", app_id: null, minutes: null });
  });
  return { ...files, created };
}

/** Transcribes the bundled sample with a test key; answers what came back, in a line. One that fails ends no gateway. */
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
