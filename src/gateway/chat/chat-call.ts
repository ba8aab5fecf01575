// Types of a chat on its way through the gateway: its input, its decided route, and the parts of its stream.
import type { AnswerRoom } from "../../lib/answer-room.ts";
import type { Principal } from "../../auth/principal.ts";
import type { ChatAnswer, ChatEventData } from "../../contract/chat/chat-answer.ts";
import type { ChatFields } from "../../contract/chat/chat-request.ts";
import type { GatewayError } from "../../contract/errors.ts";
import type { RequestId } from "../../contract/ids.ts";
import type { Reasoning } from "../../providers/chat/chat-provider.ts";
import type { ChatContent } from "./chat-content.ts";
import type { Recorder } from "../request-record.ts";
import type { ChatDecision } from "../../routing/decide-chat-route.ts";

/** A validated chat request. */
export interface ChatCall {
  readonly requestId: RequestId;
  readonly endpoint: string;
  readonly principal: Principal;
  readonly fields: ChatFields;
  readonly purposeHeader: string | null;
  readonly idempotencyKey: string | null;
  /** Where memory for a stored answer is reserved. */
  readonly room?: AnswerRoom;
  readonly recorder: Recorder;
  readonly receivedAtMs: number;
  /** Aborts when the caller hangs up. */
  readonly clientGone: AbortSignal;
  /** Turns the answer into the endpoint's own format, which an idempotency key stores too. */
  readonly present: (answer: ChatAnswer, content: Pick<ChatContent, "isRefusal">) => unknown;
}

/** What is sent to the caller, in order. Nothing follows an `error`. */
export type ChatStreamPart =
  | { readonly kind: "started"; readonly id: string; readonly createdAt: string }
  | { readonly kind: "text"; readonly text: string; readonly isRefusal: boolean }
  | { readonly kind: "reasoning"; readonly reasoning: Reasoning }
  | { readonly kind: "tool_call"; readonly delta: ChatEventData<"chat.tool_call.delta"> }
  | { readonly kind: "completed"; readonly answer: ChatAnswer }
  | { readonly kind: "error"; readonly error: GatewayError };

export interface ChatStream {
  readonly simulated: boolean;
  /** Sent as headers, for formats that have no fields for them. */
  readonly facts: Readonly<Record<string, string>>;
  /** Parts that were received together are sent together. */
  readonly parts: AsyncIterable<readonly ChatStreamPart[]>;
}

export type DecidedChat = Extract<ChatDecision, { ok: true }>;

export type ChatCandidate = DecidedChat["candidates"][number];

/** The caller of a chat: a chat request, or the request with the translated transcript. */
export type ChatCaller = Pick<ChatCall, "requestId" | "endpoint" | "principal" | "clientGone">;
