// Reports provider health [admin.health]: which models on which accounts are unavailable, by the circuits of this process, and statistics of the calls of all
// processes.
import { KEY_PREFIXES } from "../../auth/key-format.ts";
import { endpointName } from "../../contract/endpoints/endpoint.ts";
import { postJobContract } from "../../contract/endpoints/endpoint-jobs.ts";
import { HEALTH_LIMITS, type ProviderHealth, type SeenModel } from "../../contract/admin/provider-health.ts";
import { getRealtimeContract } from "../../contract/transcription/realtime.ts";
import { partsOfKey } from "../../directory/account-key.ts";
import { PLATFORM } from "../../directory/snapshot.ts";
import { TEST_CIRCUITS } from "../../gateway/calls/circuit-name.ts";
import type { CircuitReport, ReportingCircuits } from "../../providers/health.ts";
import { listPauses } from "../../directory/store/connection-pauses.ts";
import type { Database } from "../../storage/database.ts";
import { type CallGroup, readRecentCalls } from "../../metering/store/provider-calls.ts";
import { bypassRls } from "../../storage/system.ts";
import { viewPause } from "./pauses.ts";

export interface ProviderHealthServices {
  readonly circuits: Pick<ReportingCircuits, "report" | "close">;
  readonly database: Database;
  readonly now: () => Date;
}

export async function describeProviderHealth(
  { circuits, database, now }: ProviderHealthServices,
  minutes: number,
): Promise<ProviderHealth> {
  const { since, isCut, groups } = await readRecentCalls(bypassRls(database, "operator").db, {
    minutes,
    maxCalls: HEALTH_LIMITS.calls,
    latest: HEALTH_LIMITS.errors,
    testPrefix: KEY_PREFIXES.test,
    untimedEndpoints: [getRealtimeContract, postJobContract].map(endpointName),
  });
  const models = Map.groupBy(groups, ({ scope, connection, provider, model }) =>
    JSON.stringify([scope, connection, provider, model]),
  );
  return {
    object: "provider_health",
    checked_at: now().toISOString(),
    circuits: accountCircuits(circuits).map(describeCircuit),
    pauses: (await listPauses(bypassRls(database, "operator").db, null)).map(viewPause),
    since: since.toISOString(),
    sampled: isCut,
    models: [...models.values()]
      .flatMap(describeModel)
      .toSorted((left, right) => right.failed - left.failed || right.calls - left.calls),
  };
}

/** Excludes the sandbox, which is not an account. */
function accountCircuits(circuits: ProviderHealthServices["circuits"]): readonly CircuitReport[] {
  return circuits.report().filter(({ key }) => !key.startsWith(TEST_CIRCUITS));
}

function describeCircuit(circuit: CircuitReport): ProviderHealth["circuits"][number] {
  const { scope, connection, model } = partsOfKey(circuit.key);
  return {
    workspace_id: workspaceOf(scope),
    connection,
    model,
    state: circuit.state,
    consecutive_failures: circuit.consecutive,
    recent_calls: circuit.calls,
    recent_failures: circuit.failures,
    openings: circuit.openings,
    rests_until: circuit.restUntilMs === null ? null : new Date(circuit.restUntilMs).toISOString(),
  };
}

/** Describes one model on one account by its outcomes. */
function describeModel(groups: readonly CallGroup[]): readonly SeenModel[] {
  const [first] = groups;
  if (first === undefined) return [];
  const served = groups.find(({ outcome }) => outcome === "succeeded");
  const callsOf = (ofThose: (group: CallGroup) => boolean): number =>
    groups.filter(ofThose).reduce((total, { calls }) => total + calls, 0);
  return [
    {
      workspace_id: workspaceOf(first.scope),
      connection: first.connection,
      provider: first.provider,
      model: first.model,
      calls: callsOf(() => true),
      succeeded: served?.calls ?? 0,
      failed: callsOf(({ outcome }) => outcome !== "succeeded" && outcome !== "aborted"),
      duration_p50_ms: roundOrNull(served?.p50_ms),
      duration_p95_ms: roundOrNull(served?.p95_ms),
      outcomes: groups
        .map(({ outcome, calls }) => ({ outcome, calls }))
        .toSorted((left, right) => right.calls - left.calls || (left.outcome < right.outcome ? -1 : 1)),
      last_errors: groups
        .flatMap(({ outcome, latest }) => latest.map((call) => ({ outcome, call })))
        .toSorted((left, right) => right.call.at_ms - left.call.at_ms)
        .slice(0, HEALTH_LIMITS.errors)
        .map(({ outcome, call: { at_ms: atMs, ...call } }) => ({ at: new Date(atMs).toISOString(), outcome, ...call })),
    },
  ];
}

function workspaceOf(scope: string): string | null {
  return scope === PLATFORM ? null : scope;
}

function roundOrNull(ms: number | null | undefined): number | null {
  return typeof ms === "number" ? Math.round(ms) : null;
}
