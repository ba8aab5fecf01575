// The answer of a dry run: the decision, and whether quotas, budgets and plan allow its cost [routing.dry-run-decision].
import type { RoutingDecision } from "../../contract/transcription.ts";
import type { ChatDecision } from "../../routing/decide-chat-route.ts";
import type { AudioDecision } from "../../routing/decide-translation.ts";
import type { RoutedCall } from "../transcription/audio-call.ts";
import type { ChatCall } from "../chat/chat-call.ts";
import { describeChatDecision, describeDecision } from "./describe-decision.ts";
import { judgeAudioCost, judgeChatCost } from "./judge-cost.ts";
import type { GatewayServices } from "../services.ts";
import { expectedChat } from "../translation/translate-by-chat.ts";

type CostServices = Pick<GatewayServices, "ledger" | "prices" | "quotas">;

export async function judgedAudio(
  services: CostServices,
  call: RoutedCall,
  { durationSeconds, channels }: { readonly durationSeconds: number; readonly channels: number },
  audioDecision: AudioDecision,
): Promise<RoutingDecision> {
  const description = describeDecision(services, call, durationSeconds, channels, audioDecision);
  const first = audioDecision.decision.ok ? audioDecision.decision.candidates[0] : undefined;
  if (first === undefined) return description;
  const { byChat } = audioDecision;
  const refusal = await judgeAudioCost(services, call.principal, {
    candidate: first,
    audioSeconds: durationSeconds,
    channels,
    chat: byChat === null ? null : expectedChat(call, byChat, durationSeconds),
  });
  return refusal === null ? description : { ...description, outcome: refusal };
}

export async function judgedChat(
  services: CostServices,
  call: Pick<ChatCall, "principal">,
  decision: ChatDecision,
): Promise<RoutingDecision> {
  const description = describeChatDecision(services, call, decision);
  const first = decision.ok ? decision.candidates[0] : undefined;
  if (!decision.ok || first === undefined) return description;
  const { wanted: request } = decision;
  const refusal = await judgeChatCost(services, call.principal, { target: first.target, request });
  return refusal === null ? description : { ...description, outcome: refusal };
}
