// What a chat adapter would send to a target for a request (contract 7): how routing judges chat targets.
import type { ChatRequest } from "../providers/chat-provider.ts";
import type { ChatPlanner } from "../routing/decide-chat-route.ts";
import type { GatewayServices } from "./services.ts";

export function chatPlanner(services: Pick<GatewayServices, "chatProviders">, request: ChatRequest): ChatPlanner {
  return ({ provider, model, chat }, settings) => {
    const adapter = services.chatProviders.get(provider);
    if (adapter === undefined || chat === null) throw new Error(`no chat adapter for ${provider}`);
    return adapter.plan(request, { model, chat, settings });
  };
}
