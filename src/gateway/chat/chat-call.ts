// A chat call as the endpoints hand it to the gateway, and the parts of its stream.
import type { AnswerRoom } from "../../lib/answer-room.ts";
import type { Principal } from "../../auth/principal.ts";
import type { ChatAnswer, ChatEventData, ChatFields } from "../../contract/chat.ts";
import type { GatewayError } from "../../contract/errors.ts";
import type { RequestId } from "../../contract/ids.ts";
import type { Reasoning } from "../../providers/chat/chat-provider.ts";
import type { ChatContent } from "./chat-content.ts";
import type { Recorder } from "../request-record.ts";
import type { ChatDecision } from "../../routing/decide-chat-route.ts";

/** A chat as the edge understood it. */
export interface ChatCall {
  readonly requestId: RequestId;
  readonly endpoint: string;
  readonly principal: Principal;
  readonly fields: ChatFields;
  readonly purposeHeader: string | null;
  readonly idempotencyKey: string | null;
  /** For a stored answer. */
  readonly room?: AnswerRoom;
  readonly recorder: Recorder;
  readonly receivedAtMs: number;
  /** Aborts when the caller hangs up. */
  readonly clientGone: AbortSignal;
  /** The answer as the endpoint words it, and as an idempotency key keeps it. */
  readonly present: (answer: ChatAnswer, content: Pick<ChatContent, "isRefusal">) => unknown;
}

/** What the edge sends on, in order; after an `error` nothing follows. */
export type ChatStreamPart =
  | { readonly kind: "started"; readonly id: string; readonly createdAt: string }
  | { readonly kind: "text"; readonly text: string; readonly isRefusal: boolean }
  | { readonly kind: "reasoning"; readonly reasoning: Reasoning }
  | { readonly kind: "tool_call"; readonly delta: ChatEventData<"chat.tool_call.delta"> }
  | { readonly kind: "completed"; readonly answer: ChatAnswer }
  | { readonly kind: "error"; readonly error: GatewayError };

export interface ChatStream {
  readonly simulated: boolean;
  /** As headers, for words that have no place for them. */
  readonly facts: Readonly<Record<string, string>>;
  /** Those that came together are handed over together. */
  readonly parts: AsyncIterable<readonly ChatStreamPart[]>;
}

export type DecidedChat = Extract<ChatDecision, { ok: true }>;

export type ChatCandidate = DecidedChat["candidates"][number];

/** Whose chat it is: a request of its own, or the one whose transcript is translated. */
export type ChatCaller = Pick<ChatCall, "requestId" | "endpoint" | "principal" | "receivedAtMs" | "clientGone">;
