// The routing decision for chat (contract 4, 7): the same judgement as audio's in the context of the key's own route. Pure.
import type { Profile } from "../contract/features.ts";
import type { ChatPlanResult, ChatRequest } from "../providers/chat-provider.ts";
import { decide, given, type RouteDecision } from "./decide-route.ts";
import { type ChatVerdict, judgeChatTarget } from "./judge-chat-target.ts";
import type { TargetHealth } from "./pick-candidates.ts";
import type { PurposeRequest } from "./resolve-purpose.ts";
import type { RoutingContext, Target } from "./types.ts";

export interface ChatQuestion {
  readonly request: ChatRequest;
  readonly purpose: PurposeRequest;
  readonly profile: Profile | null;
  /** The adapter's plan for a target with its merged settings. */
  readonly plan: (target: Target, settings: Readonly<Record<string, unknown>>) => ChatPlanResult;
}

export type ChatDecision = RouteDecision<ChatRequest, ChatVerdict>;

export function decideChatRoute(
  context: RoutingContext,
  { request, purpose, profile, plan }: ChatQuestion,
  isHealthy: TargetHealth,
): ChatDecision {
  return decide(
    context,
    {
      capability: "chat",
      purpose,
      profile,
      // A purpose's defaults are fields of a transcription; none of them means anything here.
      want: () => ({
        wanted: request,
        judge: (target, _route, settings) => judgeChatTarget(given(target.chat), request, () => plan(target, settings)),
      }),
    },
    isHealthy,
  );
}
