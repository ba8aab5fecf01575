// Checks rules across several fields of a chat request that every provider has: a request that breaks one is refused here, with the name of the field.
import type { ChatMessage } from "./chat-parts.ts";
import type { ChatFields } from "./chat-request.ts";

export interface Inconsistency {
  readonly path: readonly (string | number)[];
  readonly message: string;
}

export function inconsistencies({ messages, tools, ...given }: ChatFields): readonly Inconsistency[] {
  const { tool_choice, parallel_tool_calls } = given;
  const found: Inconsistency[] = [];
  const names = (tools ?? []).map((tool) => tool.function.name);
  if (new Set(names).size < names.length) found.push({ path: ["tools"], message: "two tools have the same name" });
  if (tool_choice !== undefined && tool_choice !== "none" && names.length === 0)
    found.push({ path: ["tool_choice"], message: "needs tools" });
  else if (typeof tool_choice === "object" && !names.includes(tool_choice.function.name))
    found.push({ path: ["tool_choice"], message: "names no tool of this request" });
  if (parallel_tool_calls !== undefined && names.length === 0)
    found.push({ path: ["parallel_tool_calls"], message: "needs tools" });
  // An empty list is reported by the field's own schema.
  if (messages.length > 0 && messages.every((message) => message.role === "system"))
    found.push({ path: ["messages"], message: "need at least one that is not a system message" });
  for (const [index, message] of messages.entries()) {
    // Null is an empty text, as some backends write it.
    const isSilent = message.role === "assistant" && message.content === undefined && message.reasoning_content == null;
    if (isSilent && (message.tool_calls ?? []).length === 0)
      found.push({ path: ["messages", index, "content"], message: "is missing, and there are no tool_calls" });
  }
  return [...found, ...unmatchedCalls(messages)];
}

interface OpenCall {
  readonly id: string;
  readonly path: Inconsistency["path"];
}

/** Each call has one result, directly after the calling message. Ids may be reused in later messages. */
function unmatchedCalls(messages: readonly ChatMessage[]): readonly Inconsistency[] {
  const found: Inconsistency[] = [];
  const everCalled = new Set<string>();
  let open: OpenCall[] = [];
  let answeredIds = new Set<string>();
  const close = (): void => {
    for (const { path } of open)
      found.push({ path, message: "has no result: a tool message with its id must follow directly" });
    open = [];
    answeredIds = new Set();
  };
  for (const [index, message] of messages.entries()) {
    if (message.role === "tool") {
      const id = message.tool_call_id;
      const at = open.findIndex((call) => call.id === id);
      if (at !== -1) {
        open.splice(at, 1);
        answeredIds.add(id);
        continue;
      }
      const reason = answeredIds.has(id)
        ? "is a second result of the same call"
        : everCalled.has(id)
          ? "answers no tool call of the assistant message directly before"
          : "answers no tool call before it";
      found.push({ path: ["messages", index, "tool_call_id"], message: reason });
      continue;
    }
    if (open.length > 0 || answeredIds.size > 0) close();
    if (message.role !== "assistant") continue;
    open = (message.tool_calls ?? []).map(({ id }, at) => ({ id, path: ["messages", index, "tool_calls", at] }));
    for (const { id } of open) everCalled.add(id);
  }
  close();
  return found;
}
