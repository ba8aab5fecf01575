// Fields that other backends write into their answers and clients bring back with the history. Each target gets those that it wants
// back; the others are left out.
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

const WHERE_WANTED = "Sent to targets that want it back, else left out.";
const any = z.unknown().describe(WHERE_WANTED).optional();

/** Of a part, a tool and a message. */
export const cacheControl = { cache_control: any };

/** Of a tool call. */
export const callHistory = { extra_content: any, provider_specific_fields: any };

/** Of an assistant's message. */
export const assistantHistory = {
  ...callHistory,
  ...cacheControl,
  reasoning_content: z.string().describe(`What the model thought. ${WHERE_WANTED}`).nullish(),
  reasoning: any,
  reasoning_details: any,
  thinking_blocks: any,
};

/** An empty list of parts is an empty text. */
export const emptyText = (value: unknown): unknown => (Array.isArray(value) && value.length === 0 ? "" : value);
/** And so is null, of those whose texts a program writes. */
export const nullText = (value: unknown): unknown => (value === null ? "" : emptyText(value));
