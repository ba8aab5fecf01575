// The answer of a dry run: the decision, and the verdict of quotas, budgets and plan on its cost [routing.dry-run-decision].
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
  decided: AudioDecision,
): Promise<RoutingDecision> {
  const described = describeDecision(services, call, durationSeconds, channels, decided);
  const first = decided.decision.ok ? decided.decision.candidates[0] : undefined;
  if (first === undefined) return described;
  const { byChat } = decided;
  const refused = await judgeAudioCost(services, call.principal, {
    candidate: first,
    audioSeconds: durationSeconds,
    channels,
    chat: byChat === null ? null : expectedChat(call, byChat, durationSeconds),
  });
  return refused === null ? described : { ...described, outcome: refused };
}

export async function judgedChat(
  services: CostServices,
  call: Pick<ChatCall, "principal">,
  decision: ChatDecision,
): Promise<RoutingDecision> {
  const described = describeChatDecision(services, call, decision);
  const first = decision.ok ? decision.candidates[0] : undefined;
  if (!decision.ok || first === undefined) return described;
  const { wanted: request } = decision;
  const refused = await judgeChatCost(services, call.principal, { target: first.target, request });
  return refused === null ? described : { ...described, outcome: refused };
}
