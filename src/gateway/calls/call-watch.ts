// Reports the outcome of a call to a provider to the circuit, the metrics and the trace [metrics.values]. Only names, kinds and figures, no text of a caller or
// provider.
import { partsOfKey } from "../../directory/account-key.ts";
import { PLATFORM } from "../../directory/snapshot.ts";
import type { WorkspaceId } from "../../contract/ids.ts";
import { isSubstitution } from "../../providers/answered-model.ts";
import type { FailureKind } from "../../providers/io.ts";
import type { Receipt } from "../../providers/receipt.ts";
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
  /** Reports the receipts of an answer, used or withheld, if one of them shows another model. */
  answered(receipts: readonly Receipt[], isUsed: boolean): void;
  /** Null: it succeeded. */
  end(failure: FailureKind | null, spent: SpentAmounts | null): void;
}

export function watchCall(
  { circuits, observer, now }: Pick<GatewayServices, "circuits" | "observer" | "now">,
  call: Pick<ObservedCall, "requestId" | "attemptId" | "operation"> & {
    readonly target: Target;
    readonly workspaceId: WorkspaceId;
    readonly testMode: boolean;
  },
): WatchedCall {
  const { requestId, attemptId, operation, target, workspaceId, testMode } = call;
  const { connection, provider, model } = target;
  const isWorkspaceOwned = partsOfKey(target.account).scope !== PLATFORM;
  const endCircuit = circuits.begin(circuitOf(target, testMode));
  const startedAtMs = now().getTime();
  return {
    answered: (receipts, isUsed) => {
      const other = receipts.find(isSubstitution);
      if (other === undefined) return;
      const facts = { requestId, attemptId, workspaceId, connection, provider, operation, isWorkspaceOwned, testMode };
      observer.modelSubstituted({ ...facts, asked: model, answered: other.answered, isRefused: !isUsed });
    },
    end: (failure, spent) => {
      endCircuit(failure);
      const facts = { requestId, attemptId, operation, provider, model, isWorkspaceOwned, startedAtMs };
      observer.called({ ...facts, endedAtMs: now().getTime(), outcome: failure ?? "succeeded", spent });
    },
  };
}
