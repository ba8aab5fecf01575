// What a chat adapter would send to a target for a request: how routing judges chat targets [chat.required-features].
import type { ChatRequest } from "../../providers/chat/chat-provider.ts";
import type { ChatPlanner } from "../../routing/decide-chat-route.ts";
import type { Target } from "../../routing/types.ts";
import { UNDECLARED_OUTPUT_TOKENS } from "./chat-quote.ts";
import type { GatewayServices } from "../services.ts";

/** What planning a chat takes. */
export type PlanServices = Pick<GatewayServices, "chatProviders" | "prices">;

export function chatPlanner(services: PlanServices, request: ChatRequest): ChatPlanner {
  return (target, settings) => {
    const { provider, model, chat } = target;
    const adapter = services.chatProviders.get(provider);
    if (adapter === undefined || chat === null) throw new Error(`no chat adapter for ${provider}`);
    const asked = isOpenEnded(services, request, target)
      ? { ...request, maxTokens: UNDECLARED_OUTPUT_TOKENS }
      : request;
    return adapter.plan(asked, { model, chat, settings });
  };
}

/**
 * Nobody said where the answer ends, and each of its tokens costs: it ends where its reservation does, or what came beyond it would be
 * nobody's to pay. Without a price none is sent, for many a server refuses a limit beyond its own.
 */
function isOpenEnded({ prices }: PlanServices, { maxTokens }: ChatRequest, { provider, model, chat }: Target): boolean {
  if (maxTokens !== null || chat?.limits.maxOutputTokens !== undefined) return false;
  return prices().chat(provider, model) !== null;
}
