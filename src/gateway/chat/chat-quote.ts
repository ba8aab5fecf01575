// Computes what one chat attempt may cost, reserved by estimate and limit, and what it is charged by reported usage [metering.reserve-chat].
import type { Principal } from "../../auth/principal.ts";
import type { BillingClass } from "../../contract/billing-class.ts";
import type { Funding } from "../../metering/ledger.ts";
import type { TokenUsage } from "../../metering/ledger-entries.ts";
import { chatCharge, type ChatPrice } from "../../metering/price.ts";
import type { ChatRequest } from "../../providers/chat/chat-provider.ts";
import { outputCap } from "../../providers/chat/unmet-chat-features.ts";
import type { Target } from "../../routing/types.ts";
import { estimateInputTokens } from "./estimate-tokens.ts";
import { billingClassOf } from "../billing/billing-class.ts";
import { firstFunding } from "./chat-funding.ts";
import type { GatewayServices } from "../services.ts";

export interface ChatBilling {
  readonly billingClass: BillingClass;
  /** Our own estimate, which is charged if the provider reports none. */
  readonly inputTokens: number;
  readonly reserveTokens: number;
  /** The list price of all that is reserved. Null: unknown, which is not 0. */
  readonly listNanoUsd: bigint | null;
  readonly price: ChatPrice | null;
  readonly funding: Funding;
}

/** Reserved for a model without a declared limit. Sent as the limit too if the model has a price. */
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
  return {
    billingClass,
    inputTokens,
    reserveTokens: inputTokens + outputTokens,
    listNanoUsd: billingClass === "simulated" ? 0n : list,
    price,
    funding: firstFunding(billingClass, principal.workspace, request),
  };
}

/** Counted against the token quota before the call. The length of an answer without a limit is counted at its end. */
export function countedTokens({ inputTokens }: Pick<ChatBilling, "inputTokens">, { maxTokens }: ChatRequest): number {
  return inputTokens + (maxTokens ?? 0);
}

/** The highest possible charge. Chats within the allowance cost tokens and no money. */
export function reserveNanoUsd({ billingClass, funding, listNanoUsd }: ChatBilling): bigint {
  return billingClass === "metered" && funding !== "allowance" ? (listNanoUsd ?? 0n) : 0n;
}

/** Never above the reservation, so that a provider that exceeds its own limit exceeds no budget. */
export function chargeNanoUsd(billing: ChatBilling, usage: TokenUsage): bigint {
  const most = reserveNanoUsd(billing);
  if (billing.price === null || most === 0n) return 0n;
  const charge = chatCharge(billing.price, usage.inputTokens, usage.outputTokens);
  return charge < most ? charge : most;
}
