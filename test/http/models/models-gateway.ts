// A gateway with a purpose of each sort, and another workspace with one of its own.
import { type ChatGateway, startChatGateway } from "../chat/chat-gateway.ts";

export function startModelsGateway(): Promise<ChatGateway> {
  return startChatGateway({
    app: {
      purposes: [
        { purpose: "brief", route: "chat" },
        { purpose: "off", route: "chat", is_enabled: false },
        { purpose: "hidden", route: "chat", is_published: false },
      ],
    },
    file: (file) => ({
      ...file,
      workspaces: (file.workspaces ?? []).map((workspace) =>
        workspace.id === "other"
          ? {
              ...workspace,
              apps: (workspace.apps ?? []).map((app) => ({ ...app, purposes: [{ purpose: "theirs", route: "chat" }] })),
            }
          : workspace,
      ),
    }),
  });
}
