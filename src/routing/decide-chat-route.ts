// Decides the route of a chat: the same decision as for audio, always in the context of the key's own route [routing.key-route]. Pure.
import type { DataPolicyRequirement } from "../contract/settings/data-policy.ts";
import type { ChatLack, Profile } from "../contract/features.ts";
import type { ChatPlanResult, ChatRequest } from "../providers/chat/chat-provider.ts";
import { decide, type RouteDecision } from "./decide-route.ts";
import type { Judge, UnavailabilityOf } from "./pick-candidates.ts";
import type { PurposeRequest } from "./resolve-purpose.ts";
import type { RoutingContext, Target } from "./types.ts";

/** The adapter's plan is the verdict, so the two cannot disagree: what it would send to the target, or what the model lacks. */
export interface ChatVerdict {
  /** Empty: the target is eligible. */
  readonly missing: readonly ChatLack[];
  readonly planned: Extract<ChatPlanResult, { ok: true }> | null;
}

/** The adapter's plan for a target with its merged settings. */
export type ChatPlanner = (target: Target, settings: Readonly<Record<string, unknown>>) => ChatPlanResult;

export interface ChatQuestion {
  readonly request: ChatRequest;
  readonly purpose: PurposeRequest;
  readonly profile: Profile | null;
  readonly dataPolicy?: DataPolicyRequirement | null;
  readonly plan: ChatPlanner;
}

export type ChatDecision = RouteDecision<ChatRequest, ChatVerdict>;

export function decideChatRoute(
  context: RoutingContext,
  { request, purpose, profile, dataPolicy = null, plan }: ChatQuestion,
  unavailabilityOf: UnavailabilityOf,
): ChatDecision {
  return decide(
    context,
    {
      capability: "chat",
      purpose,
      profile,
      dataPolicy,
      // A purpose's defaults are fields of a transcription and have no meaning for a chat.
      want: () => ({ wanted: request, judge: chatJudge(plan) }),
    },
    unavailabilityOf,
  );
}

export function chatJudge(plan: ChatPlanner): Judge<ChatVerdict> {
  return (target, _route, settings) => {
    const planned = plan(target, settings);
    return planned.ok ? { missing: [], planned } : { missing: planned.missing, planned: null };
  };
}
