// Judges the model that answers a chat: another one than the target's is recorded, and withheld if the route requires the exact one [routing.exact-model].
import { modelReceipt } from "../../providers/answered-model.ts";
import type { ChatProvider } from "../../providers/chat/chat-provider.ts";
import { ProviderError } from "../../providers/io.ts";
import type { Receipt } from "../../providers/receipt.ts";
import type { Target } from "../../routing/types.ts";
import type { WatchedCall } from "../calls/call-watch.ts";

export interface ModelJudge {
  /** Null: the answer reports no model. Throws a `ProviderError` if the answer must be withheld. */
  readonly judge: (answered: string | null) => void;
  /** Recorded with the attempt. */
  readonly receipts: () => readonly Receipt[];
}

export function createModelJudge(provider: ChatProvider, target: Target, callWatch: WatchedCall): ModelJudge {
  const isRequired = target.requiresExactModel;
  let receipt: Receipt | null = null;
  return {
    judge: (answered) => {
      if (answered === null && !isRequired) return;
      // A stream that another model began stays its answer.
      if (receipt?.delivered === false) return;
      receipt = modelReceipt(answered, (name) => provider.isSameModel(target, name));
      const isWithheld = isRequired && !receipt.delivered;
      callWatch.answered([receipt], !isWithheld);
      if (isWithheld) throw new ProviderError("feature_dropped", { reason: "model" });
    },
    receipts: () => (receipt === null ? [] : [receipt]),
  };
}
