// Decides whether a start without a configured workspace must create one with an app: the database is empty, or an earlier start created it and the file
// still lists none.
import { readBootstrapState } from "./store/bootstrap.ts";
import { readConnection } from "./store/connections.ts";
import type { SystemTransaction } from "../storage/database.ts";
import { readRoute } from "./store/routes.ts";
import type { ScopeObjects } from "./apply-scope.ts";
import { PLATFORM } from "./snapshot.ts";

export async function needsBootstrap(tx: SystemTransaction): Promise<boolean> {
  const state = await readBootstrapState(tx);
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
