// What one chat attempt may cost and who pays it: reserved by estimate and limit, charged by reported usage [metering.reserve-chat].
import type { Principal } from "../../auth/principal.ts";
import type { BillingClass } from "../../contract/billing-class.ts";
import type { Funding } from "../../metering/ledger.ts";
import type { TokenUsage } from "../../metering/ledger-entries.ts";
import { chatCharge, type ChatPrice } from "../../metering/price.ts";
import type { ChatRequest } from "../../providers/chat/chat-provider.ts";
import { askedChatFeatures, outputCap } from "../../providers/chat/asked-chat-features.ts";
import type { Target } from "../../routing/types.ts";
import { estimateInputTokens } from "./estimate-tokens.ts";
import { billingClassOf } from "../calls/quote.ts";
import type { GatewayServices } from "../services.ts";

export interface ChatBilling {
  readonly billingClass: BillingClass;
  /** By our own estimate, which stands where the provider reports none. */
  readonly inputTokens: number;
  readonly reserveTokens: number;
  /** The list price of all that is reserved; null: unknown, which is not 0. */
  readonly listNanoUsd: bigint | null;
  readonly price: ChatPrice | null;
  readonly funding: Funding;
}

/** Reserved for a model whose limit nobody declared; where it has a price, sent as the limit too. */
export const UNDECLARED_OUTPUT_TOKENS = 8_192;

export function chatQuote(
  services: Pick<GatewayServices, "prices">,
  principal: Principal,
  target: Target,
  request: ChatRequest,
): ChatBilling {
  const price = services.prices().chat(target.provider, target.model);
  const billingClass = billingClassOf(principal, target, price);
  const inputTokens = estimateInputTokens(request, target.chat?.limits);
  const outputTokens = (target.chat === null ? null : outputCap(request, target.chat)) ?? UNDECLARED_OUTPUT_TOKENS;
  const list = price === null ? null : chatCharge(price, inputTokens, outputTokens);
  const planPays = billingClass === "metered" && principal.workspace.plan !== null;
  return {
    billingClass,
    inputTokens,
    reserveTokens: inputTokens + outputTokens,
    listNanoUsd: billingClass === "simulated" ? 0n : list,
    price,
    funding: planPays ? firstFunding(request) : "none",
  };
}

/** Plain chat draws on the allowance; tools, JSON modes, images and audio do not [chat.plan-allowance]. */
function firstFunding(request: ChatRequest): Funding {
  return askedChatFeatures(request).length === 0 ? "allowance" : "credits";
}

/** What counts against a quota of tokens before the call: of an answer whose length nobody limited only the end will tell. */
export function countedTokens({ inputTokens }: Pick<ChatBilling, "inputTokens">, { maxTokens }: ChatRequest): number {
  return inputTokens + (maxTokens ?? 0);
}

/** The next way to pay where this one is used up: plain chat beyond the monthly tokens needs credits. */
export function nextFunding(funding: Funding): Funding | null {
  return funding === "allowance" ? "credits" : null;
}

/** What can be charged at most. Out of the allowance a chat costs tokens and no money. */
export function reserveNanoUsd({ billingClass, funding, listNanoUsd }: ChatBilling): bigint {
  return billingClass === "metered" && funding !== "allowance" ? (listNanoUsd ?? 0n) : 0n;
}

/** Never above the reservation: a provider that exceeds its own limit breaks no budget. */
export function chargeNanoUsd(billing: ChatBilling, usage: TokenUsage): bigint {
  const most = reserveNanoUsd(billing);
  if (billing.price === null || most === 0n) return 0n;
  const charge = chatCharge(billing.price, usage.inputTokens, usage.outputTokens);
  return charge < most ? charge : most;
}
