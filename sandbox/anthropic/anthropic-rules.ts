// Validates requests to Anthropic's Messages API and parses what they request [providers.sandbox-refusals].
import { z } from "zod";
import type { ChatAsked } from "../chat-simulate.ts";
import { imageTypeOf } from "../wire/media-content.ts";
import { hasOpenObject } from "../wire/open-schema.ts";

const cached = { cache_control: z.looseObject({ type: z.literal("ephemeral") }).nullish() };
const textBlock = z.strictObject({
  type: z.literal("text"),
  text: z.string(),
  citations: z.array(z.unknown()).nullish(),
  ...cached,
});
const imageBlock = z.strictObject({
  type: z.literal("image"),
  source: z.strictObject({
    type: z.literal("base64"),
    media_type: z.enum(["image/jpeg", "image/png", "image/gif", "image/webp"]),
    data: z.string(),
  }),
  ...cached,
});
const toolUse = z.strictObject({
  type: z.literal("tool_use"),
  id: z.string().regex(/^[A-Za-z0-9_-]+$/u),
  name: z.string(),
  input: z.record(z.string(), z.unknown()),
  ...cached,
});
const toolResult = z.strictObject({
  type: z.literal("tool_result"),
  tool_use_id: z.string().regex(/^[A-Za-z0-9_-]+$/u),
  content: z.union([z.string(), z.array(z.discriminatedUnion("type", [textBlock, imageBlock]))]).optional(),
  is_error: z.boolean().optional(),
  ...cached,
});
const block = z.discriminatedUnion("type", [textBlock, imageBlock, toolUse, toolResult]);

const message = z.strictObject({
  role: z.enum(["user", "assistant"]),
  content: z.union([z.string(), z.array(block)]),
});
type Message = z.infer<typeof message>;
type Block = z.infer<typeof block>;

const single = { disable_parallel_tool_use: z.boolean().optional() };

const request = z.strictObject({
  model: z.string(),
  max_tokens: z.int().min(1),
  messages: z.array(message).min(1),
  system: z.union([z.string(), z.array(textBlock)]).optional(),
  stop_sequences: z.array(z.string().regex(/\S/u, "each stop sequence must contain non-whitespace")).nullish(),
  stream: z.boolean().nullish(),
  temperature: z.number().min(0).max(1).nullish(),
  top_p: z.number().min(0).max(1).nullish(),
  top_k: z.int().min(0).nullish(),
  tools: z
    .array(
      z.strictObject({
        name: z.string().regex(/^[A-Za-z0-9_-]{1,128}$/u),
        description: z.string().optional(),
        input_schema: z.looseObject({ type: z.literal("object") }),
        strict: z.boolean().optional(),
        type: z.literal("custom").nullish(),
        ...cached,
      }),
    )
    .optional(),
  tool_choice: z
    .discriminatedUnion("type", [
      z.strictObject({ type: z.literal("auto"), ...single }),
      z.strictObject({ type: z.literal("any"), ...single }),
      z.strictObject({ type: z.literal("tool"), name: z.string(), ...single }),
      z.strictObject({ type: z.literal("none") }),
    ])
    .optional(),
  output_config: z
    .strictObject({
      effort: z.enum(["low", "medium", "high", "xhigh", "max"]).nullish(),
      format: z.strictObject({ type: z.literal("json_schema"), schema: z.record(z.string(), z.unknown()) }).nullish(),
    })
    .optional(),
  metadata: z.strictObject({ user_id: z.string().nullish() }).optional(),
  service_tier: z.enum(["auto", "standard_only"]).optional(),
});
export type AnthropicChat = z.infer<typeof request>;

export type AnthropicJudgement =
  | { readonly ok: true; readonly chat: AnthropicChat; readonly asked: ChatAsked }
  | { readonly ok: false; readonly message: string };

export function judgeAnthropic(json: unknown, version: string): AnthropicJudgement {
  const parsed = request.safeParse(json);
  if (!parsed.success) return { ok: false, message: messageOf(parsed.error) };
  const chat = parsed.data;
  const fault =
    findSampling(chat, version) ??
    findWrongTools(chat) ??
    findForcedTool(chat) ??
    findBlankSystem(chat) ??
    findWrongTurns(chat) ??
    findPrefill(chat) ??
    findLimits(chat) ??
    findWrongSchema(chat);
  return fault === null ? { ok: true, chat, asked: askedOf(chat) } : { ok: false, message: fault };
}

function messageOf(error: z.ZodError): string {
  const [issue] = error.issues;
  const path = (issue?.path ?? []).join(".");
  const qualify = (name: string): string => (path === "" ? name : `${path}.${name}`);
  if (issue?.code === "unrecognized_keys") return `${qualify(issue.keys[0] ?? "")}: Extra inputs are not permitted`;
  if (issue?.code === "invalid_type" && /received undefined/u.test(issue.message)) return `${path}: Field required`;
  if (issue?.code === "invalid_type") return `${path}: Input should be a valid ${issue.expected}`;
  return `${path}: ${issue?.message ?? "Invalid"}`;
}

/** Models of 4.5 and 4.6 and earlier. Later ones accept no sampling parameters. */
const isSampled = (model: string): boolean => /-4-[56](?:-|$)|^claude-3|-4-[01](?:-|$)|-4-\d{8}$/u.test(model);

function findSampling(chat: AnthropicChat, version: string): string | null {
  const samplingNames = (["temperature", "top_p", "top_k"] as const).filter((name) => chat[name] != null);
  if (version !== "2023-06-01" && samplingNames.length > 0)
    return `${samplingNames[0]}: Extra inputs are not permitted`;
  if (!isSampled(chat.model)) {
    const odd = samplingNames.find((name) => name !== "temperature" || chat.temperature !== 1);
    if (odd !== undefined) return `\`${odd}\` is not supported for this model.`;
  }
  if (chat.temperature != null && chat.top_p != null)
    return "`temperature` and `top_p` cannot both be specified for this model. Please use only one.";
  return null;
}

const blocksOf = ({ content }: Message): readonly Block[] =>
  typeof content === "string" ? [{ type: "text", text: content }] : content;

function findWrongTools({ tools, tool_choice: choice, messages }: AnthropicChat): string | null {
  if (tools === undefined && choice !== undefined) return "tool_choice may only be specified while providing tools";
  for (const [index, { input_schema: schema }] of (tools ?? []).entries())
    if (["oneOf", "allOf", "anyOf"].some((keyword) => keyword in schema))
      return `tools.${index}.custom.input_schema: input_schema does not support oneOf, allOf, or anyOf at the top level`;
  if (choice?.type === "tool" && !(tools ?? []).some((tool) => tool.name === choice.name))
    return `Tool '${choice.name}' not found in provided tools`;
  const isUsed = messages.flatMap(blocksOf).some((each) => each.type === "tool_use" || each.type === "tool_result");
  return isUsed && tools === undefined
    ? "Requests which include `tool_use` or `tool_result` blocks must define tools"
    : null;
}

/** Models that always think. */
const forcesNoTool = (model: string): boolean => /^claude-(?:opus-5-5|sonnet-5-5|fable-5-[12])/u.test(model);

function findForcedTool({ model, tool_choice: choice }: AnthropicChat): string | null {
  const isForced = choice?.type === "any" || choice?.type === "tool";
  return isForced && forcesNoTool(model)
    ? 'tool_choice: type "tool" and "any" are not supported for this model.'
    : null;
}

function findBlank(where: "messages" | "system", text: string): string | null {
  if (text === "") return `${where}: text content blocks must be non-empty`;
  return text.trim() === "" ? `${where}: text content blocks must contain non-whitespace text` : null;
}

const systemTexts = ({ system = [] }: AnthropicChat): readonly string[] =>
  typeof system === "string" ? [system] : system.map((each) => each.text);

function findBlankSystem(chat: AnthropicChat): string | null {
  return systemTexts(chat).reduce<string | null>((found, text) => found ?? findBlank("system", text), null);
}

/** Models of 4.5 and earlier. */
const takesPrefill = (model: string): boolean => /-4-5(?:-|$)|^claude-3|-4-[01](?:-|$)|-4-\d{8}$/u.test(model);

function findPrefill({ model, messages }: AnthropicChat): string | null {
  const last = messages.at(-1);
  if (last?.role !== "assistant") return null;
  if (!takesPrefill(model))
    return "This model does not support assistant message prefill. The conversation must end with a user message.";
  const block = blocksOf(last).at(-1);
  const hasBlankEnd = block?.type === "text" && block.text !== block.text.trimEnd();
  return hasBlankEnd ? "messages: final assistant content cannot end with trailing whitespace" : null;
}

function findWrongTurns({ messages }: AnthropicChat): string | null {
  const used = new Set<string>();
  if (messages[0]?.role !== "user") return 'messages: first message must use the "user" role';
  let open = new Set<string>();
  for (const [index, each] of messages.entries()) {
    const blocks = blocksOf(each);
    if (blocks.length === 0) return `messages.${index}: all messages must have non-empty content`;
    for (const [at, one] of blocks.entries()) {
      const blank = one.type === "text" ? findBlank("messages", one.text) : null;
      if (blank !== null) return blank;
      if (one.type === "image" && imageTypeOf(one.source.data) !== one.source.media_type)
        return `messages.${index}.content.${at}.image.source.base64: The image was specified using the ${one.source.media_type} media type, but does not appear to be a valid image of it`;
      if (
        (one.type === "tool_use") !== (each.role === "assistant") &&
        (one.type === "tool_use" || one.type === "tool_result")
      )
        return `messages.${index}: \`${one.type}\` blocks can only be in \`${one.type === "tool_use" ? "assistant" : "user"}\` messages`;
      if (one.type === "tool_use" && used.has(one.id))
        return `messages.${index}.content.${at}: \`tool_use\` ids must be unique`;
      if (one.type === "tool_use") used.add(one.id);
      if (one.type === "tool_result" && !open.delete(one.tool_use_id))
        return `messages.${index}.content.${at}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${one.tool_use_id}. Each \`tool_result\` block must have a corresponding \`tool_use\` block in the previous message.`;
    }
    if (open.size > 0)
      return `messages.${index}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${[...open].join(", ")}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`;
    open = new Set(blocks.flatMap((one) => (one.type === "tool_use" ? [one.id] : [])));
  }
  return null;
}

function findLimits({ model, max_tokens: asked }: AnthropicChat): string | null {
  const most = /-4-5|sonnet-4-6/u.test(model) ? 64_000 : 128_000;
  return asked > most
    ? `max_tokens: ${asked} > ${most}, which is the maximum allowed number of output tokens for ${model}`
    : null;
}

function findWrongSchema({ output_config: config }: AnthropicChat): string | null {
  return hasOpenObject(config?.format?.schema)
    ? "output_config.format.schema: For 'object' type, 'additionalProperties' must be explicitly set to false"
    : null;
}

function askedOf(chat: AnthropicChat): ChatAsked {
  const blocks = chat.messages.flatMap(blocksOf);
  const results = blocks.filter((each) => each.type === "tool_result");
  const system = systemTexts(chat);
  const texts = blocks.flatMap((each) => {
    if (each.type === "text") return [each.text];
    return each.type === "tool_result" && typeof each.content === "string" ? [each.content] : [];
  });
  const choice = chat.tool_choice;
  const schema = chat.output_config?.format?.schema;
  return {
    // Other protocols send a result as a separate message, so it counts as one here.
    messages: (system.length > 0 ? 1 : 0) + chat.messages.reduce((sum, each) => sum + messagesIn(each), 0),
    text: [...system, ...texts].join(" "),
    images: blocks.filter((each) => each.type === "image").length,
    audios: 0,
    results: results.length,
    endsWithResult: chat.messages.at(-1)?.role === "user" && blocks.at(-1)?.type === "tool_result",
    tools: (chat.tools ?? []).map((tool) => ({ name: tool.name, schema: tool.input_schema })),
    choice: choiceOf(choice),
    isParallel: choice === undefined || choice.type === "none" || choice.disable_parallel_tool_use !== true,
    format: schema == null ? { kind: "text" } : { kind: "schema", schema },
    maxTokens: chat.max_tokens,
    stop: chat.stop_sequences ?? [],
  };
}

function messagesIn(message: Message): number {
  const blocks = blocksOf(message);
  const results = blocks.filter((each) => each.type === "tool_result").length;
  return results + (results < blocks.length ? 1 : 0);
}

function choiceOf(choice: AnthropicChat["tool_choice"]): ChatAsked["choice"] {
  switch (choice?.type) {
    case "any":
      return { kind: "required" };
    case "tool":
      return { kind: "tool", name: choice.name };
    case "none":
      return { kind: "none" };
    case "auto":
    case undefined:
      return { kind: "auto" };
  }
}
