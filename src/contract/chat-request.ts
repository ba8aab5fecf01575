// The body of a chat request, with the rules that its fields keep together.
import type { z } from "zod";
import { inconsistencies } from "./chat-consistency.ts";
import { uncheckedChatFields, uncheckedClientChatFields, type ChatFields } from "./chat.ts";

const consistent = (given: ChatFields, context: z.RefinementCtx) => {
  for (const { path, message } of inconsistencies(given))
    context.addIssue({ code: "custom", path: [...path], message });
};

export const chatFields = uncheckedChatFields.superRefine(consistent);

/** What the OpenAI-compatible endpoints accept in addition. */
export const chatFieldsOfClients = uncheckedClientChatFields.superRefine(consistent);
