// Reports circuits of this process that have been open for too long [alerts.circuit-open].
import { partsOfKey } from "../../directory/account-key.ts";
import { PLATFORM } from "../../directory/snapshot.ts";
import { TEST_CIRCUITS } from "../../gateway/calls/circuit-name.ts";
import type { ReportingCircuits } from "../../providers/health.ts";
import type { Alert, AlertWorkspace } from "../alert.ts";

export interface CircuitSource {
  readonly circuits: Pick<ReportingCircuits, "report">;
  readonly openMinutes: number;
  readonly nowMs: () => number;
  /** Workspaces by id, of connections that belong to one. */
  readonly workspacesOf: (ids: readonly string[]) => Promise<ReadonlyMap<string, AlertWorkspace>>;
}

/** Remembers when each circuit opened. Half-open is not closed: only a successful call closes a circuit. */
export function createCircuitSource(source: CircuitSource): () => Promise<readonly Alert[]> {
  const openedAtMs = new Map<string, number>();
  return async () => {
    const nowMs = source.nowMs();
    const longOpen: { readonly key: string; readonly sinceMs: number }[] = [];
    for (const { key, state } of source.circuits.report()) {
      if (key.startsWith(TEST_CIRCUITS)) continue;
      if (state === "closed") {
        openedAtMs.delete(key);
        continue;
      }
      const sinceMs = openedAtMs.get(key) ?? nowMs;
      openedAtMs.set(key, sinceMs);
      // A circuit without calls stays half-open, which proves nothing.
      if (state === "open" && nowMs - sinceMs >= source.openMinutes * 60_000) longOpen.push({ key, sinceMs });
    }
    if (longOpen.length === 0) return [];
    const scopes = longOpen.map(({ key }) => partsOfKey(key).scope).filter((scope) => scope !== PLATFORM);
    const workspaces = scopes.length === 0 ? new Map<string, AlertWorkspace>() : await source.workspacesOf(scopes);
    return longOpen.map(({ key, sinceMs }) => describe(key, sinceMs, nowMs, workspaces));
  };
}

function describe(key: string, sinceMs: number, nowMs: number, workspaces: ReadonlyMap<string, AlertWorkspace>): Alert {
  const { scope, connection, model } = partsOfKey(key);
  const workspace = workspaces.get(scope) ?? null;
  const minutes = Math.floor((nowMs - sinceMs) / 60_000);
  const owner = scope === PLATFORM ? "" : ` of workspace ${workspace?.slug ?? scope}`;
  return {
    event: "circuit_open",
    cause: `circuit_open/${key}`,
    workspace,
    summary: `The circuit of ${connection}/${model}${owner} has been open for ${minutes} min: no call has succeeded since.`,
    details: { connection, model, open_since: new Date(sinceMs).toISOString(), open_minutes: minutes },
    occurredAt: new Date(nowMs),
  };
}
