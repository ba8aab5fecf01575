// Dialects of OpenAI's chat completions, as data: how servers differ (their documentation, checked 2026-11-20).
import type { HistoryField } from "../../contract/chat/chat-history.ts";
import { MODEL_NAMES, type ModelNames } from "../answered-model.ts";
import { OPENAI_COMBINERS } from "../chat/tool-schema.ts";

/** The differences of one server. */
export interface ChatDialect {
  readonly outputCapField: "max_completion_tokens" | "max_tokens";
  readonly seedField: "seed" | "random_seed";
  readonly toolChoiceRequired: "required" | "any";
  /** Whether usage in a stream has to be requested. A server that reports it by default may refuse the parameter. */
  readonly asksForUsage: boolean;
  readonly toolCallIds: { readonly pattern: RegExp; readonly length: number };
  /** Fields of its own answers that it accepts in the history. A strict server refuses a message with an unknown field. */
  readonly history: readonly HistoryField[];
  /** Keywords that it refuses at the top level of a tool's schema. */
  readonly refusedCombiners: readonly string[];
  /** How it names the model that answered. */
  readonly modelNames: ModelNames;
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
  modelNames: MODEL_NAMES.openai,
};

/** Most servers support only the older name of the maximum, and ignore unknown fields. */
export const COMPATIBLE: ChatDialect = {
  ...OPENAI,
  outputCapField: "max_tokens",
  history: ["reasoning_content", "reasoning", "extra_content"],
  refusedCombiners: [],
  modelNames: MODEL_NAMES.compatible,
};
/** "property 'reasoning_content' is unsupported": these servers accept the field name of their own answers. */
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
    // It echoes an alias in the samples of its documentation.
    modelNames: MODEL_NAMES.mistral,
  },
};
