// How servers that speak OpenAI's chat completions differ, as data (their documentation, checked 2026-11-20).
import type { HistoryField } from "../contract/chat-history.ts";
import { OPENAI_COMBINERS } from "./tool-schema.ts";

/** How a server's dialect differs, as data. */
export interface ChatDialect {
  readonly outputCapField: "max_completion_tokens" | "max_tokens";
  readonly seedField: "seed" | "random_seed";
  readonly toolChoiceRequired: "required" | "any";
  /** Whether usage in a stream has to be asked for; a server that reports it unasked may refuse the question. */
  readonly asksForUsage: boolean;
  readonly toolCallIds: { readonly pattern: RegExp; readonly length: number };
  /** What it takes back of its answers; a strict server refuses a message with a field that it does not know. */
  readonly history: readonly HistoryField[];
  /** Keywords that it refuses at the top of a tool's schema. */
  readonly refusedCombiners: readonly string[];
}

export const OPENAI: ChatDialect = {
  outputCapField: "max_completion_tokens",
  seedField: "seed",
  toolChoiceRequired: "required",
  asksForUsage: true,
  // "string too long. Expected a string with maximum length 40".
  toolCallIds: { pattern: /^.{1,40}$/su, length: 32 },
  history: [],
  refusedCombiners: OPENAI_COMBINERS,
};

/** Most servers know only the older name of the cap, and ignore fields that they do not know. */
export const COMPATIBLE: ChatDialect = {
  ...OPENAI,
  outputCapField: "max_tokens",
  history: ["reasoning_content", "reasoning", "extra_content"],
  refusedCombiners: [],
};
/** "property 'reasoning_content' is unsupported": they take the name that they answer with. */
const STRICT: ChatDialect = { ...COMPATIBLE, history: ["reasoning"] };

export const DIALECTS: Readonly<Record<string, ChatDialect>> = {
  openai: COMPATIBLE,
  groq: STRICT,
  cerebras: STRICT,
  together: COMPATIBLE,
  vllm: COMPATIBLE,
  ollama: COMPATIBLE,
  mistral: {
    ...COMPATIBLE,
    seedField: "random_seed",
    toolChoiceRequired: "any",
    asksForUsage: false,
    toolCallIds: { pattern: /^[A-Za-z0-9]{9}$/u, length: 9 },
    history: [],
  },
};
