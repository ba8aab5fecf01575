// The schema of an OpenAI chat request, as strict as OpenAI's own [providers.sandbox-refusals].
import { z } from "zod";

const textPart = z.strictObject({ type: z.literal("text"), text: z.string() });
const imagePart = z.strictObject({
  type: z.literal("image_url"),
  image_url: z.strictObject({ url: z.string(), detail: z.enum(["auto", "low", "high"]).optional() }),
});
const audioPart = z.strictObject({
  type: z.literal("input_audio"),
  input_audio: z.strictObject({ data: z.string(), format: z.enum(["wav", "mp3"]) }),
});
const texts = z.union([z.string(), z.array(textPart).min(1)]);
const name = z.string().optional();

const toolCall = z.strictObject({
  id: z.string().max(40),
  type: z.literal("function"),
  function: z.strictObject({ name: z.string(), arguments: z.string() }),
});

const message = z.discriminatedUnion("role", [
  z.strictObject({ role: z.literal("system"), content: texts, name }),
  z.strictObject({ role: z.literal("developer"), content: texts, name }),
  z.strictObject({
    role: z.literal("user"),
    content: z.union([z.string(), z.array(z.discriminatedUnion("type", [textPart, imagePart, audioPart])).min(1)]),
    name,
  }),
  z.strictObject({
    role: z.literal("assistant"),
    content: texts.nullish(),
    refusal: z.string().nullish(),
    tool_calls: z.array(toolCall).min(1).optional(),
    annotations: z.array(z.unknown()).optional(),
    name,
  }),
  z.strictObject({ role: z.literal("tool"), content: texts, tool_call_id: z.string() }),
]);
export type Message = z.infer<typeof message>;

const functionName = z.string().regex(/^[A-Za-z0-9_-]{1,64}$/u);
const schema = z.record(z.string(), z.unknown());

export const request = z.strictObject({
  model: z.string(),
  messages: z.array(message).min(1),
  max_completion_tokens: z.int().min(1).nullish(),
  max_tokens: z.int().min(1).nullish(),
  temperature: z.number().min(0).max(2).nullish(),
  top_p: z.number().min(0).max(1).nullish(),
  stop: z.union([z.string(), z.array(z.string()).max(4)]).nullish(),
  seed: z.int().nullish(),
  frequency_penalty: z.number().min(-2).max(2).nullish(),
  presence_penalty: z.number().min(-2).max(2).nullish(),
  n: z.literal(1).nullish(),
  stream: z.boolean().nullish(),
  stream_options: z
    .strictObject({ include_usage: z.boolean().optional(), include_obfuscation: z.boolean().optional() })
    .nullish(),
  tools: z
    .array(
      z.strictObject({
        type: z.literal("function"),
        function: z.strictObject({
          name: functionName,
          description: z.string().optional(),
          parameters: schema.optional(),
          strict: z.boolean().nullish(),
        }),
      }),
    )
    .min(1)
    .max(128)
    .optional(),
  tool_choice: z
    .union([
      z.enum(["none", "auto", "required"]),
      z.strictObject({ type: z.literal("function"), function: z.strictObject({ name: functionName }) }),
    ])
    .optional(),
  parallel_tool_calls: z.boolean().optional(),
  response_format: z
    .discriminatedUnion("type", [
      z.strictObject({ type: z.literal("text") }),
      z.strictObject({ type: z.literal("json_object") }),
      z.strictObject({
        type: z.literal("json_schema"),
        json_schema: z.strictObject({
          name: functionName,
          description: z.string().optional(),
          schema: schema.optional(),
          strict: z.boolean().nullish(),
        }),
      }),
    ])
    .optional(),
  reasoning_effort: z.enum(["none", "minimal", "low", "medium", "high", "xhigh", "max"]).nullish(),
  verbosity: z.enum(["low", "medium", "high"]).nullish(),
  service_tier: z.enum(["auto", "default", "flex", "scale", "priority", "fast"]).nullish(),
  store: z.boolean().nullish(),
  metadata: z.record(z.string(), z.string()).nullish(),
  user: z.string().optional(),
  safety_identifier: z.string().nullish(),
  prompt_cache_key: z.string().nullish(),
});
export type OpenAiChat = z.infer<typeof request>;
