// Decides whether a start must create the owner's workspace: the database is empty, or an earlier start created it and the file still lists none.
import { sql } from "kysely";
import { readConnection } from "./store/connections.ts";
import type { SystemTransaction } from "../storage/database.ts";
import { readRoute } from "./store/routes.ts";
import type { ScopeObjects } from "./apply-scope.ts";
import { PLATFORM } from "./snapshot.ts";

/** The workspace to which operator keys belong. */
export const OPERATOR_WORKSPACE = "operator";
export const OWNER_WORKSPACE = "owner";
export const OWNER_APP = "default";
/** The value of `managed_by` for keys that a start created. */
export const BY_START = "start";

export async function needsBootstrap(tx: SystemTransaction): Promise<boolean> {
  const { rows } = await sql<{ is_empty: boolean; is_ours: boolean }>`
    select
      not exists (select from workspaces w where w.slug <> ${OPERATOR_WORKSPACE} or exists (select from apps a where a.workspace_id = w.id))
        and not exists (select from connections) and not exists (select from routes) as is_empty,
      exists (
        select from workspaces w join apps a on a.workspace_id = w.id
        where w.slug = ${OWNER_WORKSPACE} and w.managed_by = 'file' and a.slug = ${OWNER_APP} and a.managed_by = 'file'
          and not exists (select from api_keys k where k.workspace_id = w.id and k.managed_by = 'file')
      ) as is_ours`.execute(tx);
  const [state] = rows;
  return state !== undefined && (state.is_empty || state.is_ours);
}

/** Returns the bootstrap objects that do not exist yet, or were derived by an earlier bootstrap. An object that a file once listed is never replaced. */
export async function replaceable(
  tx: SystemTransaction,
  listed: ScopeObjects,
  { connections, routes }: ScopeObjects,
): Promise<ScopeObjects> {
  return {
    connections: await derivedOf(listed.connections, connections, (name) => readConnection(tx, name)),
    routes: await derivedOf(listed.routes, routes, (name) => readRoute(tx, name)),
  };
}

type Read = (name: {
  readonly scope: typeof PLATFORM;
  readonly id: string;
}) => Promise<{ readonly managed_by: string } | null>;

async function derivedOf<T extends { readonly id: string }>(
  listed: readonly T[],
  all: readonly T[],
  read: Read,
): Promise<readonly T[]> {
  const derived: T[] = [];
  for (const each of all) {
    if (listed.some(({ id }) => id === each.id)) continue;
    const stored = await read({ scope: PLATFORM, id: each.id });
    if (stored === null || stored.managed_by === "bootstrap") derived.push(each);
  }
  return derived;
}
