// Judges a target's data policy again at the moment of the call [data-policy.fail-closed]: the address or the statement of its account may have changed since
// the decision, while other targets were tried.
import type { Capability } from "../../contract/features.ts";
import { isSameData } from "../../lib/json/is-same-data.ts";
import { ProviderError } from "../../providers/io.ts";
import { judgeDataPolicy } from "../../routing/data-policy.ts";
import type { Candidate, Missing } from "../../routing/pick-candidates.ts";
import type { GatewayServices } from "../services.ts";

/** Throws a `ProviderError` if what the decision relied on is no longer proven, or would need other settings. */
export function requireDataPolicy(
  { directory }: Pick<GatewayServices, "directory">,
  { target, settings, dataPolicy }: Pick<Candidate<Missing>, "target" | "settings" | "dataPolicy">,
  capability: Capability,
): void {
  if (dataPolicy === undefined) return;
  const facts = directory().dataPolicyOf(target)[capability] ?? [];
  const now = judgeDataPolicy(dataPolicy, facts, settings);
  if (now.missing.length === 0 && isSameData(now.settings, settings)) return;
  throw new ProviderError("not_found", { reason: "data_policy" });
}
