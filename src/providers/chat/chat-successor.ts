// Names a chat model's successor together with what it lacks, which is computed from the declared capabilities of both.
import type { ModelSuccessor } from "../model-life.ts";
import type { ChatModel } from "./chat-provider.ts";

export function chatSuccessor(model: string, old: ChatModel, successor: ChatModel): ModelSuccessor {
  const lacks = [
    ...old.features.filter((feature) => !successor.features.includes(feature)),
    ...old.preferences.filter((preference) => !successor.preferences.includes(preference)),
  ];
  return { model, lacks };
}
