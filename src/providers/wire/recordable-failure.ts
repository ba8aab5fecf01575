// Turns a provider's own reason into what may be recorded: without secrets, without what it quotes of the request or of an answer, and cut
// [providers.failure-message] [providers.failure-quotes]. The type proves that nothing else reaches the request's record.
import type { ChatRequest } from "../chat/chat-provider.ts";
import type { SpeechRequest } from "../provider.ts";
import { cutMessage, type ProviderFailure } from "./provider-failure.ts";
import { isQuotation, withoutQuotes } from "./request-quotes.ts";

declare const recordable: unique symbol;
export type RecordableFailure = Omit<ProviderFailure, "answerTexts"> & { readonly [recordable]: true };

/** `texts`: everything that the caller wrote, and what was received of an answer. */
export function recordableFailure(
  failure: ProviderFailure | null,
  texts: () => readonly string[],
): RecordableFailure | null {
  if (failure === null) return null;
  const { status, answerTexts } = failure;
  const secret = [...texts(), ...answerTexts].filter((text) => text !== "");
  // A number of three digits is in many texts and says nothing of them.
  const unquoted = (name: string | null): string | null =>
    name !== null && !/^\d{1,3}$/u.test(name) && isQuotation(name, secret) ? null : name;
  const message = failure.message === null ? null : withoutQuotes(failure.message, secret);
  return asRecordable({
    status,
    code: unquoted(failure.code),
    requestId: unquoted(failure.requestId),
    message: message === null ? null : cutMessage(message),
  });
}

/** Called only where the quotations have been removed. */
function asRecordable(failure: Omit<ProviderFailure, "answerTexts">): RecordableFailure {
  return failure as RecordableFailure;
}

export function speechTexts({ prompt, keyterms }: SpeechRequest): readonly string[] {
  return prompt === null ? keyterms : [prompt, ...keyterms];
}

/** Not the media: in base64 they have the form of a secret, which is removed anyway. */
export function chatTexts({ messages, tools, responseFormat, stop }: ChatRequest): readonly string[] {
  const ofMessages = messages.flatMap((message): readonly string[] => {
    switch (message.role) {
      case "system":
      case "tool":
        return [message.text];
      case "user":
        return message.parts.flatMap((part) => (part.kind === "text" ? [part.text] : []));
      case "assistant":
        return [
          message.text ?? "",
          message.reasoning?.text ?? "",
          ...message.toolCalls.flatMap((call) => [call.name, call.arguments]),
        ];
    }
  });
  const ofTools = tools.flatMap(({ name, description, parameters }) => [
    name,
    description ?? "",
    parameters === null ? "" : JSON.stringify(parameters),
  ]);
  const ofFormat =
    responseFormat.kind === "json_schema"
      ? [responseFormat.name, responseFormat.description ?? "", JSON.stringify(responseFormat.schema)]
      : [];
  return [...ofMessages, ...ofTools, ...ofFormat, ...stop];
}
