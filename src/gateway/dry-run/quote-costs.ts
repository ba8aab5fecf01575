// Quotes the costs of a dry run in the order in which the request would reserve them: the first target's call and, if a chat translates its transcript, that
// chat.
import type { Principal } from "../../auth/principal.ts";
import type { ChatRequest } from "../../providers/chat/chat-provider.ts";
import type { ChatDecision } from "../../routing/decide-chat-route.ts";
import type { AudioDecision } from "../../routing/decide-translation.ts";
import type { Target } from "../../routing/types.ts";
import { audioAmount, type Billing, quoteFor } from "../billing/audio-quote.ts";
import { type ChatBilling, chatQuote } from "../chat/chat-quote.ts";
import type { GatewayServices } from "../services.ts";
import type { RoutedCall } from "../transcription/audio-call.ts";
import { expectedTranslation } from "../translation/translation-prompt.ts";

export type Cost = AudioCost | ChatCost;

export interface AudioCost {
  readonly kind: "audio";
  readonly audioSeconds: number;
  readonly billing: Billing;
}

export interface ChatCost {
  readonly kind: "chat";
  readonly request: ChatRequest;
  readonly billing: ChatBilling;
}

type PriceServices = Pick<GatewayServices, "prices">;

/** Empty: the route refuses the request. */
export function audioCosts(
  services: PriceServices,
  { principal, fields }: Pick<RoutedCall, "principal" | "fields">,
  audio: { readonly durationSeconds: number; readonly channels: number },
  { decision, byChat }: AudioDecision,
): readonly Cost[] {
  const first = decision.ok ? decision.candidates[0] : undefined;
  if (first === undefined) return [];
  const billing = quoteFor(services, principal, first.target, audioAmount(audio, first.verdict));
  const speech: AudioCost = { kind: "audio", audioSeconds: audio.durationSeconds, billing };
  const translator = byChat?.candidates[0];
  if (translator === undefined) return [speech];
  const request = expectedTranslation(audio.durationSeconds, fields.to_language);
  return [speech, chatCost(services, principal, translator.target, request)];
}

/** Empty: the route refuses the request. */
export function chatCosts(services: PriceServices, principal: Principal, decision: ChatDecision): readonly Cost[] {
  if (!decision.ok) return [];
  return decision.candidates.slice(0, 1).map(({ target }) => chatCost(services, principal, target, decision.wanted));
}

function chatCost(services: PriceServices, principal: Principal, target: Target, request: ChatRequest): ChatCost {
  return { kind: "chat", request, billing: chatQuote(services, principal, target, request) };
}

/** The app's charge or, on another account, the list price. Null: unknown. */
export function sumOf(costs: readonly Cost[]): bigint | null {
  let sum: bigint | null = null;
  for (const { billing } of costs) {
    if (billing.listNanoUsd === null) return null;
    sum = (sum ?? 0n) + billing.listNanoUsd;
  }
  return sum;
}
