// Schemas of the parts of chat requests and answers: messages with their content, tools, tool calls and response formats.
import { z } from "zod";
import { assistantHistory, cacheControl, callHistory, emptyText, nullText } from "./chat-history.ts";

const TOOL_NAME = z.string().regex(/^[A-Za-z0-9_-]{1,64}$/u, "1 to 64 letters, digits, _ or -");
/** Descriptions of ten thousand characters occur in practice; the limit of the whole body bounds the rest. */
const DESCRIPTION = z.string().max(65_536);
/** A JSON object that only the provider interprets: a schema, or arguments that match one. */
const jsonObject = z.record(z.string(), z.unknown());

export const textPart = z.strictObject({ type: z.literal("text"), text: z.string(), ...cacheControl });
export const imagePart = z.strictObject({
  type: z.literal("image_url"),
  image_url: z.strictObject({
    url: z
      .string()
      .refine(
        isImageUrl,
        "must be a data: URL of a png, jpeg, webp or gif image in base64; other URLs are not accepted",
      )
      .describe("A `data:` URL. Other URLs are neither fetched nor forwarded."),
    detail: z
      .enum(["auto", "low", "high", "original"])
      .describe("Level of detail; a preference. `original` is sent as `high`.")
      .nullish(),
  }),
  ...cacheControl,
});
export const audioPart = z.strictObject({
  type: z.literal("input_audio"),
  input_audio: z.strictObject({
    data: z.string().refine(isBase64, "must be base64").describe("Base64 audio."),
    format: z.enum(["wav", "mp3"]),
  }),
  ...cacheControl,
});
const texts = z.union([z.string(), z.array(textPart).min(1)]);
const textContent = z.preprocess(emptyText, texts);
const userContent = z.preprocess(
  emptyText,
  z.union([z.string(), z.array(z.discriminatedUnion("type", [textPart, imagePart, audioPart])).min(1)], {
    error: "must be text, or a list of text, image_url and input_audio parts; video is not supported",
  }),
);

export const toolCall = z.strictObject({
  id: z.string(),
  name: z.string(),
  arguments: z.string().describe("JSON text as the model wrote it."),
});
export type ToolCall = z.infer<typeof toolCall>;

/** Opaque: ids of some providers carry a signature that they require back. */
const CALL_ID = z.string().min(1).max(65_536);

/** Some clients send an empty list for none; an answer of this gateway without calls contains one. */
const noneForEmpty = (value: unknown): unknown => (Array.isArray(value) && value.length === 0 ? null : value);

/** A call of the assistant sent back in Patchbay's format. */
export const ownToolCall = z.strictObject({ id: CALL_ID, name: TOOL_NAME, arguments: z.string(), ...callHistory });
const calledFunction = z.strictObject({ name: TOOL_NAME, arguments: z.string() });
/** The same in OpenAI's format. */
export const openAiToolCall = z.strictObject({
  id: CALL_ID,
  type: z.literal("function"),
  function: calledFunction,
  ...callHistory,
});

export const toolCallsOf = <T extends z.ZodType>(call: T) =>
  z.preprocess(noneForEmpty, z.array(call).min(1).max(128).nullish());

export const chatMessage = z.discriminatedUnion("role", [
  z.strictObject({ role: z.literal("system"), content: textContent, ...cacheControl }),
  z.strictObject({ role: z.literal("user"), content: userContent, ...cacheControl }),
  z.strictObject({
    role: z.literal("assistant"),
    content: z.preprocess(emptyText, texts.nullish()),
    tool_calls: toolCallsOf(z.union([ownToolCall, openAiToolCall])),
    ...assistantHistory,
  }),
  z.strictObject({
    role: z.literal("tool"),
    tool_call_id: CALL_ID,
    content: z.preprocess(nullText, z.string()).describe("Null and an empty list count as an empty text."),
    ...cacheControl,
  }),
]);
export type ChatMessage = z.infer<typeof chatMessage>;

export const chatTool = z.strictObject({
  type: z.literal("function"),
  function: z.strictObject({
    name: TOOL_NAME,
    description: DESCRIPTION.nullish(),
    parameters: jsonObject.nullish().describe("JSON Schema of the arguments."),
    strict: z.boolean().nullish(),
  }),
  ...cacheControl,
});

export const chatToolChoice = z.union([
  z.enum(["none", "auto", "required"]),
  z.strictObject({ type: z.literal("function"), function: z.strictObject({ name: TOOL_NAME }) }),
]);

export const chatResponseFormat = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("text") }),
  z.strictObject({ type: z.literal("json_object") }),
  z.strictObject({
    type: z.literal("json_schema"),
    json_schema: z.strictObject({
      name: TOOL_NAME,
      description: DESCRIPTION.nullish(),
      schema: jsonObject,
      strict: z.boolean().nullish(),
    }),
  }),
]);

/** `image/jpg` was never registered, but is common. */
function isImageUrl(url: string): boolean {
  const comma = url.indexOf(",");
  return /^data:image\/(?:png|jpe?g|webp|gif);base64$/iu.test(url.slice(0, comma)) && isBase64(url.slice(comma + 1));
}

/** Searches for an invalid character: a pattern for the whole text would backtrack over 20 MB. */
function isBase64(text: string): boolean {
  const end = text.endsWith("==") ? text.length - 2 : text.endsWith("=") ? text.length - 1 : text.length;
  return end > 0 && text.length % 4 === 0 && !/[^A-Za-z0-9+/]/u.test(text.slice(0, end));
}
