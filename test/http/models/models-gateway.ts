// A gateway with a purpose of each sort, and another workspace with one of its own.
import { OTHER_KEY } from "../../harness/gateway.ts";
import { type ChatGateway, startChatGateway } from "../chat/chat-gateway.ts";

export function startModelsGateway(): Promise<ChatGateway> {
  return startChatGateway({
    app: {
      purposes: {
        brief: "chat",
        off: { route: "chat", is_enabled: false },
        hidden: { route: "chat", is_published: false },
      },
    },
    with: () => ({
      workspaces: { other: { apps: { app: { route: "chat", key: OTHER_KEY, purposes: { theirs: "chat" } } } } },
    }),
  });
}
