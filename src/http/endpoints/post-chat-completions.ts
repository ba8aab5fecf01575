// POST /v1/chat/completions: `POST /v1/chat` for OpenAI's clients [compatible.completion].
import type { Principal } from "../../auth/principal.ts";
import { postChatCompletionsContract } from "../../contract/endpoints/endpoint-compatible.ts";
import { chatCompletionFields } from "../../contract/chat/openai-compatible.ts";
import { type ChatEdge, serveChat } from "./chat-edge.ts";
import { toChatFields, toChunks, toCompletion } from "../compatible/chat-completion.ts";
import type { Endpoint } from "../server/endpoint.ts";

export function postChatCompletions(edge: ChatEdge): Endpoint<Principal> {
  return {
    contract: postChatCompletionsContract,
    handle: (context) =>
      serveChat(edge, context, chatCompletionFields, (input) => {
        const { model } = input;
        const includeUsage = input.stream_options?.include_usage === true;
        return {
          fields: toChatFields(input),
          present: (answer, { isRefusal = false }) => toCompletion(answer, { model, isRefusal }),
          events: (parts, errors) => toChunks(parts, errors, { model, includeUsage }),
        };
      }),
  };
}
