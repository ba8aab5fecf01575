// What the circuits of this process say of providers (contract 10; reliability 7): which models on which accounts rest, and how long.
import type { ProviderHealth } from "../contract/provider-health.ts";
import { partsOfKey } from "../directory/account-key.ts";
import { PLATFORM } from "../directory/snapshot.ts";
import { TEST_CIRCUITS } from "../gateway/resolve-account.ts";
import type { CircuitReport, ReportingCircuits } from "../providers/health.ts";

export interface ProviderHealthServices {
  readonly circuits: Pick<ReportingCircuits, "report">;
  readonly now: () => Date;
}

export function describeProviderHealth({ circuits, now }: ProviderHealthServices): ProviderHealth {
  return {
    object: "provider_health",
    checked_at: now().toISOString(),
    circuits: ofAccounts(circuits).map(({ key, restUntilMs, consecutive, openings, calls, failures, state }) => {
      const { scope, connection, model } = partsOfKey(key);
      return {
        workspace_id: scope === PLATFORM ? null : scope,
        connection,
        model,
        state,
        consecutive_failures: consecutive,
        recent_calls: calls,
        recent_failures: failures,
        openings,
        rests_until: restUntilMs === null ? null : new Date(restUntilMs).toISOString(),
      };
    }),
  };
}

/** The sandbox is nobody's account. */
function ofAccounts(circuits: ProviderHealthServices["circuits"]): readonly CircuitReport[] {
  return circuits.report().filter(({ key }) => !key.startsWith(TEST_CIRCUITS));
}
