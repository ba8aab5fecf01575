// Turns the fields of a chat request into the request to a model: one shape for both ways to write a message [chat.tool-call-shapes]. Pure.
import type { ChatMessage as InputMessage } from "../../contract/chat/chat-parts.ts";
import type { ChatFields } from "../../contract/chat/chat-request.ts";
import { cacheControlOf, historyFieldsIn, reasoningOf, signatureOf } from "./chat-history.ts";
import type {
  CacheControl,
  ChatMessage,
  ChatPart,
  ChatRequest,
  ChatResponseFormat,
  ChatTextPart,
  ChatToolCall,
  ChatToolChoice,
} from "../../providers/chat/chat-provider.ts";

export function chatRequest(fields: ChatFields, stream: boolean): ChatRequest {
  const history = historyFieldsIn(fields.messages, fields.tools ?? NO_TOOLS);
  return {
    ...(history.length === 0 ? {} : { history }),
    messages: fields.messages.map(toMessage),
    tools: (fields.tools ?? NO_TOOLS).map(({ function: tool, ...toolFields }) => ({
      name: tool.name,
      description: tool.description ?? null,
      parameters: tool.parameters ?? null,
      strict: tool.strict ?? null,
      ...cacheOf(toolFields),
    })),
    toolChoice: toToolChoice(fields),
    parallelToolCalls: fields.parallel_tool_calls ?? null,
    responseFormat: toResponseFormat(fields.response_format),
    maxTokens: fields.max_tokens ?? null,
    temperature: fields.temperature ?? null,
    topP: fields.top_p ?? null,
    seed: fields.seed ?? null,
    stop: typeof fields.stop === "string" ? [fields.stop] : (fields.stop ?? []),
    reasoningEffort: fields.reasoning_effort ?? null,
    verbosity: fields.verbosity ?? null,
    stream,
  };
}

const NO_TOOLS: NonNullable<ChatFields["tools"]> = [];

function toMessage(message: InputMessage): ChatMessage {
  switch (message.role) {
    case "system":
      return { role: "system", text: textOf(message.content), ...cachedParts(message) };
    case "user":
      return { role: "user", parts: toParts(message) };
    case "assistant": {
      const reasoning = reasoningOf(message);
      return {
        role: "assistant",
        text: message.content == null ? null : textOf(message.content),
        toolCalls: (message.tool_calls ?? []).map(toToolCall),
        ...(reasoning === null ? {} : { reasoning }),
        ...cacheOf(typeof message.content === "object" ? lastCached(message.content, message) : message),
      };
    }
    case "tool":
      return { role: "tool", toolCallId: message.tool_call_id, text: message.content, ...cacheOf(message) };
  }
}

interface Cacheable {
  readonly cache_control?: unknown;
}

function cacheOf(item: Cacheable): { readonly cache?: CacheControl } {
  const cache = item.cache_control == null ? null : cacheControlOf(item);
  return cache === null ? {} : { cache };
}

function lastCached(parts: readonly Cacheable[] | null, message: Cacheable): Cacheable {
  return parts?.findLast((part) => part.cache_control != null) ?? message;
}

/** For most protocols instructions are one text. Their parts are kept if some of them are to be cached. */
function cachedParts(message: Extract<InputMessage, { role: "system" }>): { readonly parts?: readonly ChatTextPart[] } {
  const { content } = message;
  const isCached = message.cache_control != null || (typeof content !== "string" && content.some(hasCacheControl));
  if (!isCached) return {};
  return { parts: toParts({ ...message, role: "user" }).filter((part) => part.kind === "text") };
}

function hasCacheControl({ cache_control: control }: Cacheable): boolean {
  return control != null;
}

type InputCall = NonNullable<Extract<InputMessage, { role: "assistant" }>["tool_calls"]>[number];

function toToolCall(call: InputCall): ChatToolCall {
  const { name, arguments: text } = "function" in call ? call.function : call;
  const signature = signatureOf(call);
  return { id: call.id, name, arguments: text, ...(signature === null ? {} : { signature }) };
}

function textOf(content: string | readonly { readonly text: string }[]): string {
  return typeof content === "string" ? content : content.map((part) => part.text).join("");
}

function toParts(message: Extract<InputMessage, { role: "user" }>): readonly ChatPart[] {
  const { content } = message;
  if (typeof content === "string") return [{ kind: "text", text: content, ...cacheOf(message) }];
  // A cache mark of the whole message applies to its last text.
  const last = message.cache_control == null ? -1 : content.findLastIndex(({ type }) => type === "text");
  return content.map((part, index): ChatPart => {
    switch (part.type) {
      case "text":
        return { kind: "text", text: part.text, ...cacheOf(index === last ? message : part) };
      case "image_url": {
        const { url, detail } = part.image_url;
        return {
          kind: "image",
          mediaType: mediaTypeOf(url),
          base64: url.slice(url.indexOf(",") + 1),
          // The closest value that every model supports.
          ...(detail == null ? {} : { detail: detail === "original" ? "high" : detail }),
        };
      }
      case "input_audio":
        return { kind: "audio", format: part.input_audio.format, base64: part.input_audio.data };
    }
  });
}

/** Normalises to the registered name, which is the only one that providers accept. */
function mediaTypeOf(url: string): string {
  const type = url.slice("data:".length, url.indexOf(";")).toLowerCase();
  return type === "image/jpg" ? "image/jpeg" : type;
}

function toToolChoice({ tools, tool_choice: choice }: ChatFields): ChatToolChoice | null {
  // Without tools a choice has no effect; `none` requires nothing of a model.
  if (choice === undefined || tools === undefined) return null;
  return typeof choice === "string" ? { kind: choice } : { kind: "tool", name: choice.function.name };
}

function toResponseFormat(format: ChatFields["response_format"]): ChatResponseFormat {
  if (format === undefined || format.type !== "json_schema") return { kind: format?.type ?? "text" };
  const { name, description, schema, strict } = format.json_schema;
  return { kind: "json_schema", name, description: description ?? null, schema, strict: strict ?? null };
}
