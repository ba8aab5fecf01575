// The last step of a dry run: whether the quotas of audio and tokens, the budgets and the plan would allow the costs of the request [routing.dry-run]. Counts
// nothing but the request itself, which was counted on arrival.
import type { Principal } from "../../auth/principal.ts";
import type { GatewayError } from "../../contract/errors.ts";
import type { Amounts, BudgetExceeded } from "../../metering/budget.ts";
import type { Funding } from "../../metering/ledger.ts";
import { budgetExceeded } from "../billing/budget-exceeded.ts";
import { mapDatabaseUnavailable } from "../calls/database-unavailable.ts";
import { nextFunding } from "../chat/chat-funding.ts";
import { countedTokens, reserveNanoUsd } from "../chat/chat-quote.ts";
import type { GatewayServices } from "../services.ts";
import type { Cost } from "./quote-costs.ts";

type Services = Pick<GatewayServices, "ledger" | "quotas">;

/** The refusal of the first cost that is not allowed. Null: all are allowed. */
export async function judgeCosts(
  services: Services,
  principal: Principal,
  costs: readonly Cost[],
): Promise<GatewayError | null> {
  let reserved: Amounts = { nanoUsd: 0n, audioMs: 0n, tokens: 0n };
  for (const cost of costs) {
    const quotaRefusal = await mapDatabaseUnavailable(judgeQuota(services, principal, cost));
    if (quotaRefusal !== null) return quotaRefusal;
    const exceeded = await judgeBudgets(services, principal, cost, reserved);
    if (exceeded !== null) return budgetExceeded(exceeded);
    // The transcript's cost is still reserved when its translation is.
    reserved = sum(reserved, amountsOf(cost, fundingOf(cost, principal)));
  }
  return null;
}

function judgeQuota({ quotas }: Services, principal: Principal, cost: Cost): Promise<GatewayError | null> {
  return cost.kind === "audio"
    ? quotas.judgeAudio(principal, cost.audioSeconds)
    : quotas.judgeTokens(principal, countedTokens(cost.billing, cost.request));
}

/** Tries the sources of payment in order, as the reservation does. */
async function judgeBudgets(
  { ledger }: Services,
  principal: Principal,
  cost: Cost,
  reserved: Amounts,
): Promise<BudgetExceeded | null> {
  const { workspace, app } = principal;
  if (app === null) return null;
  for (let funding = fundingOf(cost, principal); ; ) {
    const owner = { workspaceId: workspace.id, appId: app.id, funding };
    const amounts = sum(reserved, amountsOf(cost, funding));
    const exceeded = await mapDatabaseUnavailable(ledger.judge({ owner, amounts }));
    const next = exceeded?.budgetKind === "allowance" ? nextFunding(funding) : null;
    if (next === null) return exceeded;
    funding = next;
  }
}

function fundingOf(cost: Cost, { workspace }: Principal): Funding {
  if (cost.kind === "chat") return cost.billing.funding;
  return workspace.plan !== null && cost.billing.billingClass === "metered" ? "credits" : "none";
}

function amountsOf(cost: Cost, funding: Funding): Amounts {
  return cost.kind === "audio"
    ? { nanoUsd: cost.billing.chargeNanoUsd, audioMs: BigInt(cost.billing.audioMs), tokens: 0n }
    : {
        nanoUsd: reserveNanoUsd({ ...cost.billing, funding }),
        audioMs: 0n,
        tokens: BigInt(cost.billing.reserveTokens),
      };
}

function sum(one: Amounts, other: Amounts): Amounts {
  return {
    nanoUsd: one.nanoUsd + other.nanoUsd,
    audioMs: one.audioMs + other.audioMs,
    tokens: one.tokens + other.tokens,
  };
}
