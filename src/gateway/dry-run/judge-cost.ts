// The last step of a dry run: whether the quotas of audio and tokens, the budgets and the plan would allow the first target's cost [routing.dry-run]. Counts
// nothing but the request itself, which was counted on arrival.
import type { Principal } from "../../auth/principal.ts";
import { ERRORS, type GatewayError } from "../../contract/errors.ts";
import type { RoutingDecision } from "../../contract/transcription.ts";
import type { Amounts, BudgetExceeded } from "../../metering/budget.ts";
import type { Funding } from "../../metering/ledger.ts";
import type { Candidate } from "../../routing/pick-candidates.ts";
import { budgetExceeded } from "../calls/budget-exceeded.ts";
import { audioAmount } from "../calls/call-accounting.ts";
import { chatQuote, countedTokens, nextFunding, reserveNanoUsd } from "../chat/chat-quote.ts";
import { quoteFor } from "../calls/quote.ts";
import type { GatewayServices } from "../services.ts";
import type { ExpectedChat } from "../translation/translate-by-chat.ts";
import { mapDatabaseUnavailable } from "../calls/database-unavailable.ts";

type Services = Pick<GatewayServices, "ledger" | "prices" | "quotas">;

/** The outcome if the cost is refused. Null: the cost is allowed. */
type RefusedOutcome = RoutingDecision["outcome"] | null;

interface AudioCost {
  readonly candidate: Pick<Candidate, "target" | "verdict">;
  readonly audioSeconds: number;
  readonly channels: number;
  /** The chat that would translate the transcript. Null: none is needed. */
  readonly chat: ExpectedChat | null;
}

export async function judgeAudioCost(
  services: Services,
  principal: Principal,
  { candidate, audioSeconds, channels, chat }: AudioCost,
): Promise<RefusedOutcome> {
  const quotaRefusal = await mapDatabaseUnavailable(services.quotas.judgeAudio(principal, audioSeconds));
  if (quotaRefusal !== null) return errorOutcome(quotaRefusal);
  const { target, verdict } = candidate;
  const amount = audioAmount({ durationSeconds: audioSeconds, channels }, verdict);
  const quote = quoteFor(services, principal, target, amount);
  const funding = principal.workspace.plan !== null && quote.billingClass === "metered" ? "credits" : "none";
  const amounts = { nanoUsd: quote.chargeNanoUsd, audioMs: BigInt(quote.audioMs), tokens: 0n };
  const refusal = budgetOutcome(await judge(services, principal, funding, amounts));
  // The transcript's cost is still reserved when its translation is.
  return refusal ?? (chat === null ? null : judgeChatCost(services, principal, chat, amounts));
}

const NOTHING: Amounts = { nanoUsd: 0n, audioMs: 0n, tokens: 0n };

/** `reserved`: what the same request has reserved already. */
export async function judgeChatCost(
  services: Services,
  principal: Principal,
  { target, request }: ExpectedChat,
  reserved: Amounts = NOTHING,
): Promise<RefusedOutcome> {
  const quote = chatQuote(services, principal, target, request);
  const quotaRefusal = await mapDatabaseUnavailable(
    services.quotas.judgeTokens(principal, countedTokens(quote, request)),
  );
  if (quotaRefusal !== null) return errorOutcome(quotaRefusal);
  for (let funding = quote.funding; ; ) {
    const nanoUsd = reserved.nanoUsd + reserveNanoUsd({ ...quote, funding });
    const amounts = { ...reserved, nanoUsd, tokens: reserved.tokens + BigInt(quote.reserveTokens) };
    const exceeded = await judge(services, principal, funding, amounts);
    const next = exceeded?.budgetKind === "allowance" ? nextFunding(funding) : null;
    if (next === null) return budgetOutcome(exceeded);
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
  return mapDatabaseUnavailable(
    ledger.judge({ owner: { workspaceId: workspace.id, appId: app.id, funding }, amounts }),
  );
}

function budgetOutcome(exceeded: BudgetExceeded | null): RefusedOutcome {
  return exceeded === null ? null : errorOutcome(budgetExceeded(exceeded));
}

function errorOutcome({ code }: GatewayError): RefusedOutcome {
  return { status: ERRORS[code].status, code, position: null };
}
