// Lets a target's adapter plan the provider request of a chat without sending it, so that routing can check whether the target supports it
// [chat.required-features].
import type { ChatRequest } from "../../providers/chat/chat-provider.ts";
import type { ChatPlanner } from "../../routing/decide-chat-route.ts";
import type { Target } from "../../routing/types.ts";
import { UNDECLARED_OUTPUT_TOKENS } from "./chat-quote.ts";
import type { GatewayServices } from "../services.ts";

/** The dependencies of planning a chat. */
export type PlanServices = Pick<GatewayServices, "chatProviders" | "prices">;

export function chatPlanner(services: PlanServices, request: ChatRequest): ChatPlanner {
  return (target, settings) => {
    const { provider, model, chat } = target;
    const adapter = services.chatProviders.get(provider);
    if (adapter === undefined || chat === null) throw new Error(`no chat adapter for ${provider}`);
    const boundedRequest = isOpenEnded(services, request, target)
      ? { ...request, maxTokens: UNDECLARED_OUTPUT_TOKENS }
      : request;
    return adapter.plan(boundedRequest, { model, chat, settings });
  };
}

/**
 * Neither the request nor the model limits the answer, and each of its tokens costs: it is limited to its reservation, because no budget would pay for more.
 * Without a price no limit is sent, because many servers refuse a limit above their own.
 */
function isOpenEnded({ prices }: PlanServices, { maxTokens }: ChatRequest, { provider, model, chat }: Target): boolean {
  if (maxTokens !== null || chat?.limits.maxOutputTokens !== undefined) return false;
  return prices().chat(provider, model) !== null;
}
