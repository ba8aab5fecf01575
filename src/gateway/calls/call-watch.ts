// Reports the outcome of a call to a provider to the circuit, the metrics and the trace [metrics.values]. Only names, kinds and figures, no text of a caller or
// provider.
import { partsOfKey } from "../../directory/account-key.ts";
import { PLATFORM } from "../../directory/snapshot.ts";
import type { FailureKind } from "../../providers/io.ts";
import type { Target } from "../../routing/types.ts";
import type { Billing } from "../billing/audio-quote.ts";
import { circuitOf } from "./circuit-name.ts";
import type { GatewayServices } from "../services.ts";
import type { ObservedCall, SpentAmounts } from "./observer.ts";

/** For audio, which uses no tokens. */
export function amountsOf({ billingClass, audioMs, billableMs, chargeNanoUsd }: Billing): SpentAmounts {
  return { billingClass, audioMs, billableMs, chargeNanoUsd, inputTokens: 0, outputTokens: 0 };
}

export interface WatchedCall {
  /** Null: it succeeded. */
  end(failure: FailureKind | null, spent: SpentAmounts | null): void;
}

export function watchCall(
  { circuits, observer, now }: Pick<GatewayServices, "circuits" | "observer" | "now">,
  call: Pick<ObservedCall, "requestId" | "attemptId" | "operation"> & {
    readonly target: Target;
    readonly testMode: boolean;
  },
): WatchedCall {
  const { requestId, attemptId, operation, target } = call;
  const { provider, model } = target;
  const isWorkspaceOwned = partsOfKey(target.account).scope !== PLATFORM;
  const endCircuit = circuits.begin(circuitOf(target, call.testMode));
  const startedAtMs = now().getTime();
  return {
    end: (failure, spent) => {
      endCircuit(failure);
      const facts = { requestId, attemptId, operation, provider, model, isWorkspaceOwned, startedAtMs };
      observer.called({ ...facts, endedAtMs: now().getTime(), outcome: failure ?? "succeeded", spent });
    },
  };
}
