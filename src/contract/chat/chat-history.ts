// Schemas of fields that other backends add to their answers (such as `reasoning_content`) and that clients send back with the history. Each target receives
// those that it requires; the rest are dropped.
import { z } from "zod";

export const HISTORY_FIELDS = [
  "reasoning_content",
  "reasoning",
  "reasoning_details",
  "thinking_blocks",
  "provider_specific_fields",
  "extra_content",
  "cache_control",
] as const;
export type HistoryField = (typeof HISTORY_FIELDS)[number];

const WHERE_WANTED = "Sent to targets that require it back, else dropped.";
const any = z.unknown().describe(WHERE_WANTED).optional();

/** Of a content part, a tool and a message. */
export const cacheControl = { cache_control: any };

/** Of a tool call. */
export const callHistory = { extra_content: any, provider_specific_fields: any };

/** Of an assistant's message. */
export const assistantHistory = {
  ...callHistory,
  ...cacheControl,
  reasoning_content: z.string().describe(`Reasoning of the model. ${WHERE_WANTED}`).nullish(),
  reasoning: any,
  reasoning_details: any,
  thinking_blocks: any,
};

/** An empty list of parts counts as an empty text. */
export const emptyText = (value: unknown): unknown => (Array.isArray(value) && value.length === 0 ? "" : value);
/** So does null, for texts that a program writes. */
export const nullText = (value: unknown): unknown => (value === null ? "" : emptyText(value));
