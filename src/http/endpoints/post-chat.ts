// POST /v1/chat: admits the request, reads the body and calls the gateway. The parts of a stream become events [chat.stream-deltas].
import type { Principal } from "../../auth/principal.ts";
import { type ChatFields, type ChatStreamEvent } from "../../contract/chat/chat.ts";
import { chatFields } from "../../contract/chat/chat-request.ts";
import { postChatContract } from "../../contract/endpoints/endpoint-chat.ts";
import type { ChatStreamPart } from "../../gateway/chat/chat-call.ts";
import { mapAsyncIterable } from "../../lib/concurrency/map-async-iterable.ts";
import { type ChatEdge, serveChat, type WordedChat } from "./chat-edge.ts";
import type { Endpoint } from "../server/endpoint.ts";
import { type ErrorReplyContext, toErrorBody } from "../reply/error-reply.ts";

export function postChat(edge: ChatEdge): Endpoint<Principal> {
  return {
    contract: postChatContract,
    handle: (context) => serveChat(edge, context, chatFields, nativeChat),
  };
}

const nativeChat = (fields: ChatFields): WordedChat => ({
  fields,
  present: (answer) => answer,
  events: (parts, errors) =>
    mapAsyncIterable(parts, { each: (batch) => batch.flatMap((part) => eventOf(part, errors) ?? []) }),
});

/** Null: the part is only sent as part of the complete response. */
function eventOf(part: ChatStreamPart, errors: Omit<ErrorReplyContext, "accept">): ChatStreamEvent | null {
  switch (part.kind) {
    case "started":
      return { event: "chat.started", data: { id: part.id, created_at: part.createdAt } };
    case "text":
      return { event: "chat.delta", data: { content: part.text } };
    case "reasoning":
      return null;
    case "tool_call":
      return { event: "chat.tool_call.delta", data: part.delta };
    case "completed":
      return { event: "chat.completed", data: part.answer };
    case "error":
      return { event: "error", data: toErrorBody(part.error, errors) };
  }
}
