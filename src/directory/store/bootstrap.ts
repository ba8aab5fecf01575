// Stores what a start creates without a configuration file: the owner's workspace and app, and the first keys [configuration.operator-key].
import { type Insertable, sql } from "kysely";
import { newId } from "../../contract/ids.ts";
import type { DatabaseTransaction } from "../../storage/database.ts";
import type { Tables } from "../../storage/schema/tables.ts";

/** The workspace to which operator keys belong. */
export const OPERATOR_WORKSPACE = "operator";
export const OWNER_WORKSPACE = "owner";
export const OWNER_APP = "default";
/** The value of `managed_by` for keys that a start created. */
const BY_START = "start";

export interface BootstrapState {
  /** No workspace, app, connection or route exists, except the operator's workspace without apps. */
  readonly is_empty: boolean;
  /** An earlier start created the owner's app, and the file gives it no keys. */
  readonly is_ours: boolean;
}

export async function readBootstrapState(tx: DatabaseTransaction): Promise<BootstrapState | undefined> {
  const { rows } = await sql<BootstrapState>`
    select
      not exists (select from workspaces w where w.slug <> ${OPERATOR_WORKSPACE} or exists (select from apps a where a.workspace_id = w.id))
        and not exists (select from connections) and not exists (select from routes) as is_empty,
      exists (
        select from workspaces w join apps a on a.workspace_id = w.id
        where w.slug = ${OWNER_WORKSPACE} and w.managed_by = 'file' and a.slug = ${OWNER_APP} and a.managed_by = 'file'
          and not exists (select from api_keys k where k.workspace_id = w.id and k.managed_by = 'file')
      ) as is_ours`.execute(tx);
  return rows[0];
}

export interface OwnerApp {
  readonly workspaceId: string;
  readonly appId: string;
  /** Number of keys that starts created for it. */
  readonly keys: number;
}

/** Undefined: no start has created it. */
export async function readOwnerApp(tx: DatabaseTransaction): Promise<OwnerApp | undefined> {
  const { rows } = await sql<OwnerApp>`
    select w.id as "workspaceId", a.id as "appId",
      (select count(*)::int from api_keys k where k.app_id = a.id and k.managed_by = ${BY_START} and k.expires_at is null) as keys
    from apps a join workspaces w on w.id = a.workspace_id
    where w.slug = ${OWNER_WORKSPACE} and a.slug = ${OWNER_APP}`.execute(tx);
  return rows[0];
}

/** Counts the operator's valid keys, in total and those that starts created. */
export async function countOperatorKeys(
  tx: DatabaseTransaction,
): Promise<{ readonly all: number; readonly byStart: number }> {
  const { rows } = await sql<{ all: number; byStart: number }>`
    select count(*)::int as all, (count(*) filter (where managed_by = ${BY_START}))::int as "byStart" from api_keys
    where role = 'operator' and revoked_at is null and (expires_at is null or expires_at > patchbay_now())`.execute(tx);
  return rows[0] ?? { all: 0, byStart: 0 };
}

/** Creates the operator's workspace if it does not exist, and returns its id. */
export async function upsertOperatorWorkspace(tx: DatabaseTransaction): Promise<string> {
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

type StartKey = Omit<Insertable<Tables["api_keys"]>, "managed_by" | "expires_at">;

/** Undefined `minutes`: valid until it is revoked. */
export async function insertStartKey(
  tx: DatabaseTransaction,
  key: StartKey,
  minutes: number | undefined,
): Promise<void> {
  await tx
    .insertInto("api_keys")
    .values({
      ...key,
      managed_by: BY_START,
      ...(minutes === undefined ? {} : { expires_at: sql<Date>`patchbay_now() + make_interval(mins => ${minutes})` }),
    })
    .execute();
}
