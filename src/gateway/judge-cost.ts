// The last thing a dry run judges (contract 1 "Order of judgement", contract 3): whether budgets and plan would bear the first
// target's cost. Quotas count what is started, and are not asked.
import type { Principal } from "../auth/principal.ts";
import { ERRORS } from "../contract/errors.ts";
import type { RoutingDecision } from "../contract/transcription.ts";
import type { Amounts, BudgetExceeded } from "../metering/budget.ts";
import type { Funding } from "../metering/ledger.ts";
import type { ChatRequest } from "../providers/chat-provider.ts";
import type { Target } from "../routing/types.ts";
import { budgetExceeded } from "./budget-exceeded.ts";
import { chatQuote, nextFunding, reserveNanoUsd } from "./chat-quote.ts";
import { quoteFor } from "./quote.ts";
import type { GatewayServices } from "./services.ts";
import { unlessAway } from "./unless-away.ts";

type Services = Pick<GatewayServices, "ledger" | "prices">;

/** The outcome where it is refused; null: it would be borne. */
type Refused = RoutingDecision["outcome"] | null;

export async function judgeAudioCost(
  services: Services,
  principal: Principal,
  target: Target,
  audio: { readonly audioMs: number; readonly channels: number },
): Promise<Refused> {
  const { billingClass, chargeNanoUsd, audioMs } = quoteFor(services, principal, target, audio);
  const funding = principal.workspace.plan !== null && billingClass === "metered" ? "credits" : "none";
  const amounts = { nanoUsd: chargeNanoUsd, audioMs: BigInt(audioMs), tokens: 0n };
  return refused(await judge(services, principal, funding, amounts));
}

export async function judgeChatCost(
  services: Services,
  principal: Principal,
  target: Target,
  request: ChatRequest,
): Promise<Refused> {
  const quoted = chatQuote(services, principal, target, request);
  for (let funding = quoted.funding; ; ) {
    const nanoUsd = reserveNanoUsd({ ...quoted, funding });
    const amounts = { nanoUsd, audioMs: 0n, tokens: BigInt(quoted.reserveTokens) };
    const exceeded = await judge(services, principal, funding, amounts);
    const next = exceeded?.owner === "allowance" ? nextFunding(funding) : null;
    if (next === null) return refused(exceeded);
    funding = next;
  }
}

async function judge(
  { ledger }: Services,
  { workspace, app }: Principal,
  funding: Funding,
  amounts: Amounts,
): Promise<BudgetExceeded | null> {
  if (app === null) return null;
  return unlessAway(ledger.judge({ owner: { workspaceId: workspace.id, appId: app.id, funding }, amounts }));
}

function refused(exceeded: BudgetExceeded | null): Refused {
  if (exceeded === null) return null;
  const { code } = budgetExceeded(exceeded);
  return { status: ERRORS[code].status, code, position: null };
}
