// The last step of a dry run: whether quotas of audio and tokens, budgets and plan would allow the first target's cost [routing.dry-run].
// Nothing is counted except the request itself, when it arrived.
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

/** The outcome where it is refused; null: it would be borne. */
type Refused = RoutingDecision["outcome"] | null;

interface AudioCost {
  readonly candidate: Pick<Candidate, "target" | "verdict">;
  readonly audioSeconds: number;
  readonly channels: number;
  /** Who is to translate the transcript; null: nobody else. */
  readonly chat: ExpectedChat | null;
}

export async function judgeAudioCost(
  services: Services,
  principal: Principal,
  { candidate, audioSeconds, channels, chat }: AudioCost,
): Promise<Refused> {
  const limited = await mapDatabaseUnavailable(services.quotas.judgeAudio(principal, audioSeconds));
  if (limited !== null) return refusedWith(limited);
  const { target, verdict } = candidate;
  const amount = audioAmount({ durationSeconds: audioSeconds, channels }, verdict);
  const quoted = quoteFor(services, principal, target, amount);
  const funding = principal.workspace.plan !== null && quoted.billingClass === "metered" ? "credits" : "none";
  const amounts = { nanoUsd: quoted.chargeNanoUsd, audioMs: BigInt(quoted.audioMs), tokens: 0n };
  const refused = refusedBy(await judge(services, principal, funding, amounts));
  // What the transcript costs is still set aside when its translation is.
  return refused ?? (chat === null ? null : judgeChatCost(services, principal, chat, amounts));
}

const NOTHING: Amounts = { nanoUsd: 0n, audioMs: 0n, tokens: 0n };

/** `beside`: what else the same request has set aside. */
export async function judgeChatCost(
  services: Services,
  principal: Principal,
  { target, request }: ExpectedChat,
  beside: Amounts = NOTHING,
): Promise<Refused> {
  const quoted = chatQuote(services, principal, target, request);
  const limited = await mapDatabaseUnavailable(services.quotas.judgeTokens(principal, countedTokens(quoted, request)));
  if (limited !== null) return refusedWith(limited);
  for (let funding = quoted.funding; ; ) {
    const nanoUsd = beside.nanoUsd + reserveNanoUsd({ ...quoted, funding });
    const amounts = { ...beside, nanoUsd, tokens: beside.tokens + BigInt(quoted.reserveTokens) };
    const exceeded = await judge(services, principal, funding, amounts);
    const next = exceeded?.budgetKind === "allowance" ? nextFunding(funding) : null;
    if (next === null) return refusedBy(exceeded);
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

function refusedBy(exceeded: BudgetExceeded | null): Refused {
  return exceeded === null ? null : refusedWith(budgetExceeded(exceeded));
}

function refusedWith({ code }: GatewayError): Refused {
  return { status: ERRORS[code].status, code, position: null };
}
