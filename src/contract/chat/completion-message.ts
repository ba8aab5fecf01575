// Schema of a message as OpenAI clients send it to the compatible endpoint, including fields that clients and their libraries add, and answers of this
// gateway as they stored them. Unused fields are accepted without a warning [compatible.unused-members].
import { z } from "zod";
import { emptyText, nullText } from "./chat-history.ts";
import { chatMessage, openAiToolCall, ownToolCall, textPart, toolCallsOf } from "./chat-parts.ts";

const NOT_USED = "Accepted and ignored.";
const name = z.string().nullish().describe(NOT_USED);
/** The client's own parsed form of the text. */
const parsed = z.unknown().optional().describe(NOT_USED);

const textParts = z.array(textPart).min(1);
const refusalPart = z.strictObject({ type: z.literal("refusal"), refusal: z.string() });
const [system, user, assistant, tool] = chatMessage.options;

export const completionMessage = z.discriminatedUnion("role", [
  system.extend({ name }),
  system.extend({ role: z.literal("developer"), name }),
  user.extend({ name }),
  assistant.extend({
    content: z.preprocess(
      emptyText,
      z.union([z.string(), z.array(z.discriminatedUnion("type", [textPart, refusalPart])).min(1)]).nullish(),
    ),
    name,
    refusal: z.string().nullish().describe("Refusal text of the assistant, instead of an answer."),
    tool_calls: toolCallsOf(
      z.union([
        ownToolCall,
        openAiToolCall.extend({
          index: z.int().nullish().describe(NOT_USED),
          function: openAiToolCall.shape.function.extend({ parsed_arguments: parsed }),
        }),
      ]),
    ),
    parsed,
    audio: z.null().optional(),
    function_call: z.null().optional(),
    annotations: z.array(z.unknown()).nullish().describe(NOT_USED),
  }),
  tool.extend({ content: z.preprocess(nullText, z.union([z.string(), textParts])), name }),
]);
export type CompletionMessage = z.infer<typeof completionMessage>;
