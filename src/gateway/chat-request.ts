// From the fields a caller sent to what is asked of a model (contract 7): one shape for both ways to write a message. Pure.
import type { ChatFields, ChatMessage as GivenMessage } from "../contract/chat.ts";
import type {
  ChatMessage,
  ChatPart,
  ChatRequest,
  ChatResponseFormat,
  ChatToolCall,
  ChatToolChoice,
} from "../providers/chat-provider.ts";

export function chatRequest(fields: ChatFields, stream: boolean): ChatRequest {
  return {
    messages: fields.messages.map(toMessage),
    tools: (fields.tools ?? []).map(({ function: tool }) => ({
      name: tool.name,
      description: tool.description ?? null,
      parameters: tool.parameters ?? null,
      strict: tool.strict ?? null,
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

function toMessage(message: GivenMessage): ChatMessage {
  switch (message.role) {
    case "system":
      return { role: "system", text: textOf(message.content) };
    case "user":
      return { role: "user", parts: toParts(message.content) };
    case "assistant":
      return {
        role: "assistant",
        text: message.content == null ? null : textOf(message.content),
        toolCalls: (message.tool_calls ?? []).map(toToolCall),
      };
    case "tool":
      return { role: "tool", toolCallId: message.tool_call_id, text: message.content };
  }
}

type GivenCall = NonNullable<Extract<GivenMessage, { role: "assistant" }>["tool_calls"]>[number];

function toToolCall(call: GivenCall): ChatToolCall {
  const { name, arguments: text } = "function" in call ? call.function : call;
  return { id: call.id, name, arguments: text };
}

function textOf(content: string | readonly { readonly text: string }[]): string {
  return typeof content === "string" ? content : content.map((part) => part.text).join("");
}

function toParts(content: Extract<GivenMessage, { role: "user" }>["content"]): readonly ChatPart[] {
  if (typeof content === "string") return [{ kind: "text", text: content }];
  return content.map((part): ChatPart => {
    switch (part.type) {
      case "text":
        return { kind: "text", text: part.text };
      case "image_url": {
        const { url, detail } = part.image_url;
        return {
          kind: "image",
          mediaType: mediaTypeOf(url),
          base64: url.slice(url.indexOf(",") + 1),
          // The closest that every model has a word for.
          ...(detail == null ? {} : { detail: detail === "original" ? "high" : detail }),
        };
      }
      case "input_audio":
        return { kind: "audio", format: part.input_audio.format, base64: part.input_audio.data };
    }
  });
}

/** As its registered name: providers know no other. */
function mediaTypeOf(url: string): string {
  const type = url.slice("data:".length, url.indexOf(";")).toLowerCase();
  return type === "image/jpg" ? "image/jpeg" : type;
}

function toToolChoice({ tools, tool_choice: choice }: ChatFields): ChatToolChoice | null {
  // Without tools there is nothing to choose; `none` says so and asks nothing of a model.
  if (choice === undefined || tools === undefined) return null;
  return typeof choice === "string" ? { kind: choice } : { kind: "tool", name: choice.function.name };
}

function toResponseFormat(format: ChatFields["response_format"]): ChatResponseFormat {
  if (format === undefined || format.type !== "json_schema") return { kind: format?.type ?? "text" };
  const { name, description, schema, strict } = format.json_schema;
  return { kind: "json_schema", name, description: description ?? null, schema, strict: strict ?? null };
}
