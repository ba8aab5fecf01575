// Keeps what an administrator created through the API from being replaced by the objects that a start derives [configuration.default-own].
import type { ConnectionConfiguration, RouteConfiguration } from "../config/configuration.ts";
import { readConnection } from "./store/connections.ts";
import { readRoute } from "./store/routes.ts";
import type { SystemTransaction } from "../storage/database.ts";
import type { ScopeObjects } from "./apply-scope.ts";
import { PLATFORM } from "./snapshot.ts";

/**
 * A route that was created through the API stays. So does a connection: one of the same kind is used, unless the environment has a key or an address for it.
 * If it is of another kind, the derived connection gets another name.
 */
export async function keepOwnObjects(tx: SystemTransaction, derived: ScopeObjects): Promise<ScopeObjects> {
  const names = new Map<string, string>();
  const connections: ConnectionConfiguration[] = [];
  for (const connection of derived.connections) {
    const { id, isOwn } = await placeOf(tx, connection);
    names.set(connection.id, id);
    if (!isOwn) connections.push({ ...connection, id });
  }
  const routes: RouteConfiguration[] = [];
  for (const route of derived.routes) {
    const stored = await readRoute(tx, { scope: PLATFORM, id: route.id });
    if (stored?.managed_by === OWN) continue;
    const targets = route.targets.map((target) => ({
      ...target,
      connection: names.get(target.connection) ?? target.connection,
    }));
    routes.push({ ...route, targets });
  }
  return { connections, routes };
}

/** The value of `managed_by` for what the API created. */
const OWN = "api";

interface Place {
  readonly id: string;
  /** The API's connection of this name is used instead. */
  readonly isOwn: boolean;
}

async function placeOf(tx: SystemTransaction, { id, kind, apiKey, baseUrl }: ConnectionConfiguration): Promise<Place> {
  for (let number = 1; ; number++) {
    const name = number === 1 ? id : `${id}-${number}`;
    const stored = await readConnection(tx, { scope: PLATFORM, id: name });
    if (stored === null || stored.managed_by !== OWN) return { id: name, isOwn: false };
    if (stored.kind === kind) return { id: name, isOwn: apiKey === null && baseUrl === null };
  }
}
