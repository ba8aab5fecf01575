// The answer of a dry run: the decision that the request would get, and whether quotas, budgets and plan allow its cost. Nothing is reserved, called or stored
// [routing.dry-run-decision] [routing.dry-run].
import type { Principal } from "../../auth/principal.ts";
import type { GatewayError } from "../../contract/errors.ts";
import type { RoutingDecision } from "../../contract/transcription/transcription-envelope.ts";
import type { ChatDecision } from "../../routing/decide-chat-route.ts";
import type { AudioDecision } from "../../routing/decide-translation.ts";
import type { GatewayServices } from "../services.ts";
import type { RoutedCall } from "../transcription/audio-call.ts";
import { describeAudioDecision, describeChatDecision, refusedOutcome } from "./describe-decision.ts";
import { judgeCosts } from "./judge-costs.ts";
import { audioCosts, chatCosts, sumOf } from "./quote-costs.ts";

type CostServices = Pick<GatewayServices, "ledger" | "prices" | "quotas">;

export async function dryRunAudio(
  services: CostServices,
  call: Pick<RoutedCall, "principal" | "fields">,
  audio: { readonly durationSeconds: number; readonly channels: number },
  decision: AudioDecision,
): Promise<RoutingDecision> {
  const costs = audioCosts(services, call, audio, decision);
  const description = describeAudioDecision(call.principal, decision, sumOf(costs), audio.durationSeconds);
  return withRefusal(description, await judgeCosts(services, call.principal, costs));
}

export async function dryRunChat(
  services: CostServices,
  principal: Principal,
  decision: ChatDecision,
): Promise<RoutingDecision> {
  const costs = chatCosts(services, principal, decision);
  const description = describeChatDecision(principal, decision, sumOf(costs));
  return withRefusal(description, await judgeCosts(services, principal, costs));
}

function withRefusal(description: RoutingDecision, refusal: GatewayError | null): RoutingDecision {
  return refusal === null ? description : { ...description, outcome: refusedOutcome(refusal.code) };
}
