// Answers as the three providers document them, plain and streamed, and the one normalised answer that they all mean. Written
// from the providers' documentation, never from what the adapters read.
import type { ChatFinishReason, ChatUsage } from "../../../src/providers/chat/chat-provider.ts";
import type { ChatWire } from "./fixtures.ts";

export interface RecordedAnswer {
  readonly plain: unknown;
  readonly stream: string;
}

export interface RecordedCase {
  readonly name: string;
  readonly text: string | null;
  /** Ids are the providers' own; the expected ones are per wire where they differ. */
  readonly calls: readonly { readonly id: string; readonly name: string; readonly arguments: string }[];
  readonly finish: ChatFinishReason;
  readonly usage: ChatUsage;
  readonly wires: Readonly<Record<ChatWire, RecordedAnswer>>;
}

const data = (...bodies: readonly unknown[]): string =>
  bodies.map((body) => `data: ${JSON.stringify(body)}\n\n`).join("");

// OpenAI ------------------------------------------------------------------------------------------------------------

const OPENAI_HEAD = {
  id: "chatcmpl-1",
  created: 1_760_000_000,
  model: "gpt-4o-2024-08-06",
  system_fingerprint: "fp_1",
};
const OPENAI_USAGE = {
  prompt_tokens: 20,
  completion_tokens: 12,
  total_tokens: 32,
  prompt_tokens_details: { cached_tokens: 4, audio_tokens: 0 },
  completion_tokens_details: { reasoning_tokens: 0 },
};

function openAi(message: object, finish: string, deltas: readonly object[]): RecordedAnswer {
  const chunk = (delta: object, reason: string | null): object => ({
    ...OPENAI_HEAD,
    object: "chat.completion.chunk",
    choices: [{ index: 0, delta, logprobs: null, finish_reason: reason }],
    usage: null,
    obfuscation: "x8f",
  });
  return {
    plain: {
      ...OPENAI_HEAD,
      object: "chat.completion",
      choices: [
        {
          index: 0,
          message: { role: "assistant", refusal: null, annotations: [], ...message },
          logprobs: null,
          finish_reason: finish,
        },
      ],
      usage: OPENAI_USAGE,
      service_tier: "default",
    },
    stream: `${data(
      chunk({ role: "assistant", content: "", refusal: null }, null),
      ...deltas.map((delta) => chunk(delta, null)),
      chunk({}, finish),
      { ...OPENAI_HEAD, object: "chat.completion.chunk", choices: [], usage: OPENAI_USAGE },
    )}data: [DONE]\n\n`,
  };
}

const openAiText = (pieces: readonly string[], finish: string): RecordedAnswer =>
  openAi(
    { content: pieces.join("") },
    finish,
    pieces.map((content) => ({ content })),
  );

// Anthropic ---------------------------------------------------------------------------------------------------------

const ANTHROPIC_HEAD = { id: "msg_1", type: "message", role: "assistant", model: "claude-sonnet-4-5-20250929" };
/** Input is 13 fresh, 3 written to the cache and 4 from it. */
const ANTHROPIC_INPUT = { input_tokens: 13, cache_creation_input_tokens: 3, cache_read_input_tokens: 4 };
/** Thoughts are not the answer, nor is the signature under them. */
const ANTHROPIC_THOUGHT = {
  start: { type: "thinking", thinking: "", signature: "" },
  deltas: [
    { type: "thinking_delta", thinking: "Let me " },
    { type: "thinking_delta", thinking: "think." },
    { type: "signature_delta", signature: "EqQBCgIYAhIM" },
  ],
  whole: { type: "thinking", thinking: "Let me think.", signature: "EqQBCgIYAhIM" },
};

const named = (body: { readonly type: string }): string => `event: ${body.type}\n${data(body)}`;

function anthropic(
  said: readonly { readonly start: object; readonly deltas: readonly object[]; readonly whole: object }[],
  stop: { readonly stop_reason: string; readonly stop_sequence: string | null },
): RecordedAnswer {
  const blocks = [ANTHROPIC_THOUGHT, ...said];
  return {
    plain: {
      ...ANTHROPIC_HEAD,
      content: blocks.map((block) => block.whole),
      ...stop,
      usage: { ...ANTHROPIC_INPUT, output_tokens: 12, service_tier: "standard" },
    },
    stream: [
      named({
        type: "message_start",
        message: {
          ...ANTHROPIC_HEAD,
          content: [],
          stop_reason: null,
          stop_sequence: null,
          usage: { ...ANTHROPIC_INPUT, output_tokens: 1 },
        },
      } as { type: string }),
      named({ type: "ping" }),
      ...blocks.flatMap(({ start, deltas }, index) => [
        named({ type: "content_block_start", index, content_block: start } as { type: string }),
        ...deltas.map((delta) => named({ type: "content_block_delta", index, delta } as { type: string })),
        named({ type: "content_block_stop", index } as { type: string }),
      ]),
      named({ type: "an_event_of_next_year", surprise: true } as { type: string }),
      named({ type: "message_delta", delta: stop, usage: { output_tokens: 12 } } as { type: string }),
      named({ type: "message_stop" }),
    ].join(""),
  };
}

const anthropicTextBlock = (pieces: readonly string[]) => ({
  start: { type: "text", text: "" },
  deltas: pieces.map((text) => ({ type: "text_delta", text })),
  whole: { type: "text", text: pieces.join(""), citations: null },
});
const anthropicCall = (id: string, name: string, pieces: readonly string[]) => ({
  start: { type: "tool_use", id, name, input: {} },
  deltas: pieces.map((partial_json) => ({ type: "input_json_delta", partial_json })),
  whole: { type: "tool_use", id, name, input: JSON.parse(pieces.join("") || "{}") as object },
});

const anthropicText = (
  pieces: readonly string[],
  stop_reason: string,
  stop_sequence: string | null = null,
): RecordedAnswer => anthropic([anthropicTextBlock(pieces)], { stop_reason, stop_sequence });

// Gemini ------------------------------------------------------------------------------------------------------------

const GEMINI_TAIL = { modelVersion: "gemini-3.5-flash", responseId: "resp1" };
/** Input is 18 of the prompt and 2 of what tools of the provider's put there. */
const GEMINI_USAGE = {
  promptTokenCount: 18,
  toolUsePromptTokenCount: 2,
  candidatesTokenCount: 9,
  thoughtsTokenCount: 3,
  cachedContentTokenCount: 4,
  totalTokenCount: 32,
  promptTokensDetails: [{ modality: "TEXT", tokenCount: 18 }],
};

function gemini(parts: readonly object[], finishReason: string, whole: readonly object[] = parts): RecordedAnswer {
  const candidate = (each: readonly object[], more: object = {}): object => ({
    content: { role: "model", parts: each },
    index: 0,
    ...more,
  });
  const thought = { text: "Let me think.", thought: true };
  return {
    plain: {
      candidates: [candidate([thought, ...whole], { finishReason, safetyRatings: [] })],
      usageMetadata: GEMINI_USAGE,
      ...GEMINI_TAIL,
    },
    stream: data(
      ...[thought, ...parts].map((part) => ({
        candidates: [candidate([part])],
        usageMetadata: { promptTokenCount: 18, totalTokenCount: 18 },
        ...GEMINI_TAIL,
      })),
      { candidates: [candidate([{ text: "" }], { finishReason })], usageMetadata: GEMINI_USAGE, ...GEMINI_TAIL },
    ),
  };
}

const geminiText = (pieces: readonly string[], finishReason: string): RecordedAnswer =>
  gemini(
    pieces.map((text) => ({ text })),
    finishReason,
    [{ text: pieces.join("") }],
  );

// The answers -------------------------------------------------------------------------------------------------------

const USAGE: ChatUsage = { inputTokens: 20, outputTokens: 12, cachedInputTokens: 4 };
const HELLO = ["Hello", ", ", "world", "."];
const UNICODE = ["Zürich ", "東京", " 🎧", "👩‍👩‍👧‍👦", ' "q"\\\n\u2028é', " ñ"];
const JSON_PIECES = ['{"name"', ':"Ada","a', 'ge":36}'];

const WEATHER_ARGUMENTS = ['{"city":', '"Zürich"', ',"unit":"c"}'];
const SIGNATURE = "EsMBCsABAdHtim+/sig==";

export const RECORDED: readonly RecordedCase[] = [
  {
    name: "text",
    text: "Hello, world.",
    calls: [],
    finish: "stop",
    usage: USAGE,
    wires: {
      openai: openAiText(HELLO, "stop"),
      anthropic: anthropicText(HELLO, "end_turn"),
      gemini: geminiText(HELLO, "STOP"),
    },
  },
  {
    name: "unicode",
    text: UNICODE.join(""),
    calls: [],
    finish: "stop",
    usage: USAGE,
    wires: {
      openai: openAiText(UNICODE, "stop"),
      anthropic: anthropicText(UNICODE, "end_turn"),
      gemini: geminiText(UNICODE, "STOP"),
    },
  },
  {
    name: "JSON after a schema",
    text: '{"name":"Ada","age":36}',
    calls: [],
    finish: "stop",
    usage: USAGE,
    wires: {
      openai: openAiText(JSON_PIECES, "stop"),
      anthropic: anthropicText(JSON_PIECES, "end_turn"),
      gemini: geminiText(JSON_PIECES, "STOP"),
    },
  },
  {
    name: "cut by its length",
    text: "Hello, ",
    calls: [],
    finish: "length",
    usage: USAGE,
    wires: {
      openai: openAiText(["Hello", ", "], "length"),
      anthropic: anthropicText(["Hello", ", "], "max_tokens"),
      gemini: geminiText(["Hello", ", "], "MAX_TOKENS"),
    },
  },
  {
    name: "ended by a stop sequence",
    text: "Hello",
    calls: [],
    finish: "stop",
    usage: USAGE,
    wires: {
      openai: openAiText(["Hello"], "stop"),
      anthropic: anthropicText(["Hello"], "stop_sequence", "STOP"),
      gemini: geminiText(["Hello"], "STOP"),
    },
  },
  {
    name: "withheld by a filter",
    text: "I cannot",
    calls: [],
    finish: "content_filter",
    usage: USAGE,
    wires: {
      openai: openAiText(["I cannot"], "content_filter"),
      anthropic: anthropicText(["I cannot"], "refusal"),
      gemini: geminiText(["I cannot"], "SAFETY"),
    },
  },
  {
    name: "nothing to say",
    text: "",
    calls: [],
    finish: "stop",
    usage: USAGE,
    wires: {
      openai: openAiText([], "stop"),
      anthropic: anthropic([], { stop_reason: "end_turn", stop_sequence: null }),
      gemini: geminiText([], "STOP"),
    },
  },
  {
    name: "one tool call",
    text: null,
    calls: [{ id: "call_a", name: "get_weather", arguments: '{"city":"Zürich","unit":"c"}' }],
    finish: "tool_calls",
    usage: USAGE,
    wires: {
      openai: openAi(
        {
          content: null,
          tool_calls: [
            {
              id: "call_a",
              type: "function",
              function: { name: "get_weather", arguments: WEATHER_ARGUMENTS.join("") },
            },
          ],
        },
        "tool_calls",
        [
          {
            tool_calls: [
              { index: 0, id: "call_a", type: "function", function: { name: "get_weather", arguments: "" } },
            ],
          },
          ...WEATHER_ARGUMENTS.map((piece) => ({ tool_calls: [{ index: 0, function: { arguments: piece } }] })),
        ],
      ),
      anthropic: anthropic([anthropicCall("call_a", "get_weather", WEATHER_ARGUMENTS)], {
        stop_reason: "tool_use",
        stop_sequence: null,
      }),
      gemini: gemini(
        [{ functionCall: { id: "call_a", name: "get_weather", args: { city: "Zürich", unit: "c" } } }],
        "STOP",
      ),
    },
  },
  {
    name: "words and two calls at once, one without arguments",
    text: "One moment.",
    calls: [
      { id: "call_a", name: "get_weather", arguments: '{"city":"東京"}' },
      { id: "call_b", name: "get_time", arguments: "{}" },
    ],
    finish: "tool_calls",
    usage: USAGE,
    wires: {
      openai: openAi(
        {
          content: "One moment.",
          tool_calls: [
            { id: "call_a", type: "function", function: { name: "get_weather", arguments: '{"city":"東京"}' } },
            { id: "call_b", type: "function", function: { name: "get_time", arguments: "{}" } },
          ],
        },
        "tool_calls",
        [
          { content: "One moment." },
          {
            tool_calls: [
              { index: 0, id: "call_a", type: "function", function: { name: "get_weather", arguments: "" } },
            ],
          },
          { tool_calls: [{ index: 1, id: "call_b", type: "function", function: { name: "get_time", arguments: "" } }] },
          { tool_calls: [{ index: 0, function: { arguments: '{"city":' } }] },
          { tool_calls: [{ index: 1, function: { arguments: "{}" } }] },
          { tool_calls: [{ index: 0, function: { arguments: '"東京"}' } }] },
        ],
      ),
      anthropic: anthropic(
        [
          anthropicTextBlock(["One ", "moment."]),
          anthropicCall("call_a", "get_weather", ['{"city":', '"東京"}']),
          anthropicCall("call_b", "get_time", []),
        ],
        { stop_reason: "tool_use", stop_sequence: null },
      ),
      gemini: gemini(
        [
          { text: "One moment." },
          { functionCall: { id: "call_a", name: "get_weather", args: { city: "東京" } } },
          { functionCall: { id: "call_b", name: "get_time" } },
        ],
        "STOP",
      ),
    },
  },
];

/** Gemini 3 signs the first of several calls; the id carries it. */
export const SIGNED: RecordedAnswer = gemini(
  [
    { functionCall: { id: "call_a", name: "get_weather", args: { city: "Bern" } }, thoughtSignature: SIGNATURE },
    { functionCall: { id: "call_b", name: "get_time", args: {} } },
  ],
  "STOP",
);
export const SIGNED_ID = `call_a~patchbay-signature~${SIGNATURE}`;
