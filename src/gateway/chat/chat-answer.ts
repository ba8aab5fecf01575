// Builds the answer of a chat in the same way from a plain reply and from an assembled stream [chat.stream-same-answer]. Pure.
import type { ChatAnswer } from "../../contract/chat/chat-answer.ts";
import type { HistoryField } from "../../contract/chat/chat-history.ts";
import type { Warning } from "../../contract/transcription/transcription-envelope.ts";
import { createIsoTime } from "../../lib/iso-time.ts";
import type { TokenUsage } from "../../metering/ledger-entries.ts";
import type { ChatAttempt } from "./chat-attempt.ts";
import type { DecidedChat } from "./chat-call.ts";
import { preferenceDropped } from "../transcription/speech-request.ts";
import type { ChatContent } from "./chat-content.ts";

const isoTime = createIsoTime();

interface AnswerInput {
  readonly id: string;
  readonly createdAt: Date;
  readonly decision: DecidedChat;
  readonly attempt: ChatAttempt;
  readonly content: ChatContent;
  readonly usage: TokenUsage;
}

export function chatAnswer({ id, createdAt, decision, attempt, content, usage }: AnswerInput): ChatAnswer {
  const text = content.text ?? "";
  return {
    id,
    object: "chat",
    created_at: isoTime(createdAt.getTime()),
    status: "completed",
    content: text === "" && content.toolCalls.length > 0 ? null : text,
    finish_reason: content.finishReason,
    tool_calls: content.toolCalls.map((call) => ({ id: call.id, name: call.name, arguments: call.arguments })),
    ...(content.reasoning === undefined ? {} : { [content.reasoning.field]: content.reasoning.text }),
    usage: {
      input_tokens: usage.inputTokens,
      output_tokens: usage.outputTokens,
      total_tokens: usage.inputTokens + usage.outputTokens,
      cached_input_tokens: usage.cachedInputTokens,
    },
    warnings: [
      ...decision.warnings,
      ...attemptWarnings(attempt, usage),
      ...(content.isFinishUnknown === true ? [FINISH_UNKNOWN] : []),
    ],
    ...decision.purpose,
  };
}

/** `usage` is null while it is not known yet. */
export function attemptWarnings(attempt: ChatAttempt, usage: TokenUsage | null): readonly Warning[] {
  return [
    ...attempt.dropped.map(preferenceDropped),
    ...(attempt.ignoredHistory.length > 0 ? [historyIgnored(attempt.ignoredHistory)] : []),
    ...attempt.rewrittenTools.map(schemaRewritten),
    ...(usage?.source === "estimated" ? [ESTIMATED] : []),
    ...(attempt.billing.billingClass === "simulated" ? [SIMULATED_CHAT] : []),
  ];
}

function historyIgnored(fields: readonly HistoryField[]): Warning {
  return {
    code: "HISTORY_FIELDS_IGNORED",
    message: `The model that served this request does not accept ${fields.join(", ")} of earlier messages; omitted.`,
    param: "messages",
    details: { fields },
  };
}

function schemaRewritten(position: number): Warning {
  return {
    code: "TOOL_SCHEMA_REWRITTEN",
    message:
      "The model that served this request does not accept anyOf, oneOf, allOf, not, const or enum at the top level of a tool's schema. The merged properties were sent instead, with the complete schema in the description.",
    param: `tools[${position}].function.parameters`,
    details: null,
  };
}

const SIMULATED_CHAT = {
  code: "SIMULATED_PROVIDER",
  message: "Simulated response. No provider was called.",
  param: null,
  details: null,
} as const;

const FINISH_UNKNOWN = {
  code: "FINISH_REASON_UNKNOWN",
  message: "The provider ended its answer with an unknown finish reason. The answer is returned unchanged.",
  param: "finish_reason",
  details: null,
} as const;

const ESTIMATED = {
  code: "USAGE_ESTIMATED",
  message: "The provider reported no usage; the tokens are the gateway's estimate.",
  param: null,
  details: null,
} as const;
