// The schema of the body of a chat request, including the rules across its fields.
import type { z } from "zod";
import { inconsistencies } from "./chat-consistency.ts";
import { uncheckedChatFields, uncheckedClientChatFields, type ChatFields } from "./chat-request.ts";

const consistent = (fields: ChatFields, context: z.RefinementCtx) => {
  for (const { path, message } of inconsistencies(fields))
    context.addIssue({ code: "custom", path: [...path], message });
};

export const chatFields = uncheckedChatFields.superRefine(consistent);

/** Additional fields of the OpenAI-compatible endpoints. */
export const chatFieldsOfClients = uncheckedClientChatFields.superRefine(consistent);
