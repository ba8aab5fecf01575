// Chooses what pays for a chat in a workspace with a plan [budgets.plan-allowance]: for plain chat the allowance of tokens and, beyond it, credits; for
// tools, JSON modes, images and audio credits alone.
import type { Principal } from "../../auth/principal.ts";
import type { BillingClass } from "../../contract/billing-class.ts";
import type { Funding } from "../../metering/ledger.ts";
import { askedChatFeatures } from "../../providers/chat/unmet-chat-features.ts";
import type { ChatRequest } from "../../providers/chat/chat-provider.ts";

/** Plain chat uses the plan's allowance; tools, JSON modes, images and audio do not [chat.plan-allowance]. */
export function firstFunding(
  billingClass: BillingClass,
  { plan }: Pick<Principal["workspace"], "plan">,
  request: ChatRequest,
): Funding {
  if (billingClass !== "metered" || plan === null) return "none";
  return askedChatFeatures(request).length === 0 ? "allowance" : "credits";
}

/** The next source of payment if one is exhausted: plain chat beyond the monthly tokens needs credits. */
export function nextFunding(funding: Funding): Funding | null {
  return funding === "allowance" ? "credits" : null;
}
