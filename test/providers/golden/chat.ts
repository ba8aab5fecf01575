// Chat requests on the three wires as the providers' documentation has them; never copied from what the adapters send. Each
// row is one wish, and what it adds to the wire's base request (`null`: the target must refuse it).
import type { ChatFeature } from "../../../src/contract/features.ts";
import type { ChatRequest } from "../../../src/providers/chat/chat-provider.ts";
import { type ChatWire, PNG, SCHEMA, TIME, WEATHER } from "../chat/fixtures.ts";

type Body = Readonly<Record<string, unknown>>;

export interface GoldenWire {
  readonly path: string;
  readonly streamPath: string;
  readonly query: readonly (readonly [string, string])[];
  readonly streamQuery: readonly (readonly [string, string])[];
  readonly headers: (credential: string) => Readonly<Record<string, string>>;
  readonly base: Body;
  /** Merged over the base when a stream is asked. */
  readonly stream: Body;
}

export const GOLDEN_WIRES: Readonly<Record<ChatWire, GoldenWire>> = {
  openai: {
    path: "/chat/completions",
    streamPath: "/chat/completions",
    query: [],
    streamQuery: [],
    headers: (credential) => ({ authorization: `Bearer ${credential}` }),
    base: { model: "gpt-4o", messages: [{ role: "user", content: "Hello" }], max_completion_tokens: 100 },
    stream: { stream: true, stream_options: { include_usage: true } },
  },
  anthropic: {
    path: "/v1/messages",
    streamPath: "/v1/messages",
    query: [],
    streamQuery: [],
    headers: (credential) => ({ "x-api-key": credential, "anthropic-version": "2023-06-01" }),
    base: {
      model: "claude-sonnet-4-5",
      max_tokens: 100,
      messages: [{ role: "user", content: [{ type: "text", text: "Hello" }] }],
    },
    stream: { stream: true },
  },
  gemini: {
    path: "/v1beta/models/gemini-3.5-flash:generateContent",
    streamPath: "/v1beta/models/gemini-3.5-flash:streamGenerateContent",
    query: [],
    streamQuery: [["alt", "sse"]],
    headers: (credential) => ({ "x-goog-api-key": credential }),
    base: {
      contents: [{ role: "user", parts: [{ text: "Hello" }] }],
      generationConfig: { maxOutputTokens: 100 },
    },
    stream: {},
  },
};

export interface GoldenWish {
  readonly name: string;
  readonly wishes: Partial<ChatRequest>;
  /** The feature the wish asks for, where it is one. */
  readonly feature?: ChatFeature;
  readonly wires: Readonly<Record<ChatWire, Body | null>>;
}

const OPENAI_TOOLS = [
  {
    type: "function",
    function: { name: "get_weather", description: "Current weather of a city.", parameters: WEATHER.parameters },
  },
  { type: "function", function: { name: "get_time" } },
];
const ANTHROPIC_TOOLS = [
  { name: "get_weather", description: "Current weather of a city.", input_schema: WEATHER.parameters },
  { name: "get_time", input_schema: { type: "object", properties: {} } },
];
const GEMINI_TOOLS = [
  {
    functionDeclarations: [
      { name: "get_weather", description: "Current weather of a city.", parametersJsonSchema: WEATHER.parameters },
      { name: "get_time" },
    ],
  },
];
const TOOLS: Partial<ChatRequest> = { tools: [WEATHER, TIME] };
const gemini = (config: Body): Body => ({ generationConfig: { maxOutputTokens: 100, ...config } });
const mode = (value: string, more: Body = {}): Body => ({
  tools: GEMINI_TOOLS,
  toolConfig: { functionCallingConfig: { mode: value, ...more } },
});

export const GOLDEN_WISHES: readonly GoldenWish[] = [
  { name: "nothing", wishes: {}, wires: { openai: {}, anthropic: {}, gemini: {} } },
  {
    name: "instructions, wherever they are, and turns",
    wishes: {
      messages: [
        { role: "system", text: "Be brief." },
        { role: "user", parts: [{ kind: "text", text: "Hello" }] },
        { role: "assistant", text: "Hi.", toolCalls: [] },
        { role: "system", text: "Be kind." },
        { role: "user", parts: [{ kind: "text", text: "Who?" }] },
        { role: "user", parts: [{ kind: "text", text: "You." }] },
      ],
    },
    wires: {
      openai: {
        messages: [
          { role: "system", content: "Be brief." },
          { role: "user", content: "Hello" },
          { role: "assistant", content: "Hi." },
          { role: "system", content: "Be kind." },
          { role: "user", content: "Who?" },
          { role: "user", content: "You." },
        ],
      },
      anthropic: {
        system: "Be brief.\nBe kind.",
        messages: [
          { role: "user", content: [{ type: "text", text: "Hello" }] },
          { role: "assistant", content: [{ type: "text", text: "Hi." }] },
          {
            role: "user",
            content: [
              { type: "text", text: "Who?" },
              { type: "text", text: "You." },
            ],
          },
        ],
      },
      gemini: {
        systemInstruction: { parts: [{ text: "Be brief.\nBe kind." }] },
        contents: [
          { role: "user", parts: [{ text: "Hello" }] },
          { role: "model", parts: [{ text: "Hi." }] },
          { role: "user", parts: [{ text: "Who?" }, { text: "You." }] },
        ],
      },
    },
  },
  {
    name: "instructions alone",
    wishes: {
      messages: [
        { role: "system", text: "Be brief." },
        { role: "system", text: "Say hello." },
      ],
    },
    wires: {
      openai: {
        messages: [
          { role: "system", content: "Be brief." },
          { role: "system", content: "Say hello." },
        ],
      },
      anthropic: { system: "Be brief.", messages: [{ role: "user", content: [{ type: "text", text: "Say hello." }] }] },
      gemini: {
        systemInstruction: { parts: [{ text: "Be brief." }] },
        contents: [{ role: "user", parts: [{ text: "Say hello." }] }],
      },
    },
  },
  {
    name: "an earlier empty answer",
    wishes: {
      messages: [
        { role: "user", parts: [{ kind: "text", text: "Hello" }] },
        { role: "assistant", text: null, toolCalls: [] },
        { role: "user", parts: [{ kind: "text", text: "Well?" }] },
      ],
    },
    wires: {
      openai: {
        messages: [
          { role: "user", content: "Hello" },
          { role: "assistant", content: "" },
          { role: "user", content: "Well?" },
        ],
      },
      anthropic: {
        messages: [
          {
            role: "user",
            content: [
              { type: "text", text: "Hello" },
              { type: "text", text: "Well?" },
            ],
          },
        ],
      },
      gemini: { contents: [{ role: "user", parts: [{ text: "Hello" }, { text: "Well?" }] }] },
    },
  },
  {
    name: "empty turns, instructions and texts",
    wishes: {
      messages: [
        { role: "system", text: "\n" },
        { role: "user", parts: [{ kind: "text", text: "" }] },
        {
          role: "user",
          parts: [
            { kind: "text", text: "Hello" },
            { kind: "text", text: "" },
          ],
        },
        { role: "assistant", text: " \n", toolCalls: [] },
        { role: "user", parts: [{ kind: "text", text: "Well?" }] },
      ],
    },
    wires: {
      openai: {
        messages: [
          { role: "system", content: "\n" },
          { role: "user", content: "" },
          {
            role: "user",
            content: [
              { type: "text", text: "Hello" },
              { type: "text", text: "" },
            ],
          },
          { role: "assistant", content: " \n" },
          { role: "user", content: "Well?" },
        ],
      },
      anthropic: {
        messages: [
          {
            role: "user",
            content: [
              { type: "text", text: "Hello" },
              { type: "text", text: "Well?" },
            ],
          },
        ],
      },
      gemini: { contents: [{ role: "user", parts: [{ text: "Hello" }, { text: "Well?" }] }] },
    },
  },
  {
    name: "a conversation that the assistant began",
    wishes: {
      messages: [
        { role: "system", text: "Be brief." },
        { role: "assistant", text: "How can I help?", toolCalls: [] },
        { role: "user", parts: [{ kind: "text", text: "Hello" }] },
      ],
    },
    wires: {
      openai: {
        messages: [
          { role: "system", content: "Be brief." },
          { role: "assistant", content: "How can I help?" },
          { role: "user", content: "Hello" },
        ],
      },
      anthropic: {
        system: "Be brief.",
        messages: [
          { role: "user", content: [{ type: "text", text: "." }] },
          { role: "assistant", content: [{ type: "text", text: "How can I help?" }] },
          { role: "user", content: [{ type: "text", text: "Hello" }] },
        ],
      },
      gemini: {
        systemInstruction: { parts: [{ text: "Be brief." }] },
        contents: [
          { role: "user", parts: [{ text: "." }] },
          { role: "model", parts: [{ text: "How can I help?" }] },
          { role: "user", parts: [{ text: "Hello" }] },
        ],
      },
    },
  },
  {
    name: "an empty text with a call, and an empty result",
    feature: "tools",
    wishes: {
      ...TOOLS,
      messages: [
        { role: "user", parts: [{ kind: "text", text: "Time?" }] },
        { role: "assistant", text: "\n\n", toolCalls: [{ id: "call_a", name: "get_time", arguments: "{}" }] },
        { role: "tool", toolCallId: "call_a", text: "\n" },
      ],
    },
    wires: {
      openai: {
        tools: OPENAI_TOOLS,
        messages: [
          { role: "user", content: "Time?" },
          {
            role: "assistant",
            content: "\n\n",
            tool_calls: [{ id: "call_a", type: "function", function: { name: "get_time", arguments: "{}" } }],
          },
          { role: "tool", tool_call_id: "call_a", content: "\n" },
        ],
      },
      anthropic: {
        tools: ANTHROPIC_TOOLS,
        messages: [
          { role: "user", content: [{ type: "text", text: "Time?" }] },
          { role: "assistant", content: [{ type: "tool_use", id: "call_a", name: "get_time", input: {} }] },
          { role: "user", content: [{ type: "tool_result", tool_use_id: "call_a" }] },
        ],
      },
      gemini: {
        tools: GEMINI_TOOLS,
        contents: [
          { role: "user", parts: [{ text: "Time?" }] },
          {
            role: "model",
            parts: [
              { text: "\n\n" },
              {
                functionCall: { id: "call_a", name: "get_time", args: {} },
                thoughtSignature: "skip_thought_signature_validator",
              },
            ],
          },
          {
            role: "user",
            parts: [{ functionResponse: { id: "call_a", name: "get_time", response: { result: "\n" } } }],
          },
        ],
      },
    },
  },
  {
    name: "no cap of its own: the model's",
    wishes: { maxTokens: null },
    wires: {
      openai: { max_completion_tokens: 16_384 },
      anthropic: { max_tokens: 64_000 },
      gemini: { generationConfig: { maxOutputTokens: 65_536 } },
    },
  },
  {
    name: "an image",
    feature: "image_parts",
    wishes: {
      messages: [
        {
          role: "user",
          parts: [
            { kind: "text", text: "What is it?" },
            { kind: "image", mediaType: "image/png", base64: PNG },
          ],
        },
      ],
    },
    wires: {
      openai: {
        messages: [
          {
            role: "user",
            content: [
              { type: "text", text: "What is it?" },
              { type: "image_url", image_url: { url: `data:image/png;base64,${PNG}` } },
            ],
          },
        ],
      },
      anthropic: {
        messages: [
          {
            role: "user",
            content: [
              { type: "text", text: "What is it?" },
              { type: "image", source: { type: "base64", media_type: "image/png", data: PNG } },
            ],
          },
        ],
      },
      gemini: {
        contents: [
          { role: "user", parts: [{ text: "What is it?" }, { inlineData: { mimeType: "image/png", data: PNG } }] },
        ],
      },
    },
  },
  {
    name: "audio",
    feature: "audio_parts",
    wishes: { messages: [{ role: "user", parts: [{ kind: "audio", format: "mp3", base64: "SUQz" }] }] },
    wires: {
      openai: null,
      anthropic: null,
      gemini: { contents: [{ role: "user", parts: [{ inlineData: { mimeType: "audio/mp3", data: "SUQz" } }] }] },
    },
  },
  {
    name: "tools",
    feature: "tools",
    wishes: TOOLS,
    wires: {
      openai: { tools: OPENAI_TOOLS },
      anthropic: { tools: ANTHROPIC_TOOLS },
      gemini: { tools: GEMINI_TOOLS },
    },
  },
  {
    name: "tool_choice auto",
    wishes: { ...TOOLS, toolChoice: { kind: "auto" } },
    wires: {
      openai: { tools: OPENAI_TOOLS, tool_choice: "auto" },
      anthropic: { tools: ANTHROPIC_TOOLS, tool_choice: { type: "auto" } },
      gemini: mode("AUTO"),
    },
  },
  {
    name: "tool_choice none",
    feature: "tool_choice",
    wishes: { ...TOOLS, toolChoice: { kind: "none" } },
    wires: {
      openai: { tools: OPENAI_TOOLS, tool_choice: "none" },
      anthropic: { tools: ANTHROPIC_TOOLS, tool_choice: { type: "none" } },
      gemini: mode("NONE"),
    },
  },
  {
    name: "tool_choice required",
    feature: "tool_choice",
    wishes: { ...TOOLS, toolChoice: { kind: "required" } },
    wires: {
      openai: { tools: OPENAI_TOOLS, tool_choice: "required" },
      anthropic: { tools: ANTHROPIC_TOOLS, tool_choice: { type: "any" } },
      gemini: mode("ANY"),
    },
  },
  {
    name: "tool_choice by name",
    feature: "tool_choice",
    wishes: { ...TOOLS, toolChoice: { kind: "tool", name: "get_time" } },
    wires: {
      openai: { tools: OPENAI_TOOLS, tool_choice: { type: "function", function: { name: "get_time" } } },
      anthropic: { tools: ANTHROPIC_TOOLS, tool_choice: { type: "tool", name: "get_time" } },
      gemini: mode("ANY", { allowedFunctionNames: ["get_time"] }),
    },
  },
  {
    name: "no parallel calls",
    feature: "parallel_tool_calls",
    wishes: { ...TOOLS, parallelToolCalls: false },
    wires: {
      openai: { tools: OPENAI_TOOLS, parallel_tool_calls: false },
      anthropic: { tools: ANTHROPIC_TOOLS, tool_choice: { type: "auto", disable_parallel_tool_use: true } },
      gemini: null,
    },
  },
  {
    name: "no parallel calls, one required",
    feature: "parallel_tool_calls",
    wishes: { ...TOOLS, parallelToolCalls: false, toolChoice: { kind: "required" } },
    wires: {
      openai: { tools: OPENAI_TOOLS, parallel_tool_calls: false, tool_choice: "required" },
      anthropic: { tools: ANTHROPIC_TOOLS, tool_choice: { type: "any", disable_parallel_tool_use: true } },
      gemini: null,
    },
  },
  {
    name: "parallel calls allowed",
    wishes: { ...TOOLS, parallelToolCalls: true },
    wires: {
      openai: { tools: OPENAI_TOOLS, parallel_tool_calls: true },
      anthropic: { tools: ANTHROPIC_TOOLS },
      gemini: { tools: GEMINI_TOOLS },
    },
  },
  {
    name: "a strict tool",
    wishes: { tools: [{ ...TIME, strict: true }] },
    wires: {
      openai: { tools: [{ type: "function", function: { name: "get_time", strict: true } }] },
      anthropic: { tools: [{ name: "get_time", input_schema: { type: "object", properties: {} }, strict: true }] },
      gemini: {
        tools: [{ functionDeclarations: [{ name: "get_time" }] }],
        toolConfig: { functionCallingConfig: { mode: "VALIDATED" } },
      },
    },
  },
  {
    name: "calls and their results sent back",
    feature: "tools",
    wishes: {
      ...TOOLS,
      messages: [
        { role: "user", parts: [{ kind: "text", text: "Weather and time?" }] },
        {
          role: "assistant",
          text: null,
          toolCalls: [
            { id: "call_a", name: "get_weather", arguments: '{"city":"Bern"}' },
            { id: "call_b", name: "get_time", arguments: "{}" },
          ],
        },
        { role: "tool", toolCallId: "call_a", text: '{"celsius":7}' },
        { role: "tool", toolCallId: "call_b", text: "noon" },
        { role: "user", parts: [{ kind: "text", text: "So?" }] },
      ],
    },
    wires: {
      openai: {
        tools: OPENAI_TOOLS,
        messages: [
          { role: "user", content: "Weather and time?" },
          {
            role: "assistant",
            content: null,
            tool_calls: [
              { id: "call_a", type: "function", function: { name: "get_weather", arguments: '{"city":"Bern"}' } },
              { id: "call_b", type: "function", function: { name: "get_time", arguments: "{}" } },
            ],
          },
          { role: "tool", tool_call_id: "call_a", content: '{"celsius":7}' },
          { role: "tool", tool_call_id: "call_b", content: "noon" },
          { role: "user", content: "So?" },
        ],
      },
      anthropic: {
        tools: ANTHROPIC_TOOLS,
        messages: [
          { role: "user", content: [{ type: "text", text: "Weather and time?" }] },
          {
            role: "assistant",
            content: [
              { type: "tool_use", id: "call_a", name: "get_weather", input: { city: "Bern" } },
              { type: "tool_use", id: "call_b", name: "get_time", input: {} },
            ],
          },
          {
            role: "user",
            content: [
              { type: "tool_result", tool_use_id: "call_a", content: '{"celsius":7}' },
              { type: "tool_result", tool_use_id: "call_b", content: "noon" },
              { type: "text", text: "So?" },
            ],
          },
        ],
      },
      gemini: {
        tools: GEMINI_TOOLS,
        contents: [
          { role: "user", parts: [{ text: "Weather and time?" }] },
          {
            role: "model",
            parts: [
              {
                functionCall: { id: "call_a", name: "get_weather", args: { city: "Bern" } },
                // Of a call of unknown origin: the documented stand-in for Gemini 3's signature, on the first call.
                thoughtSignature: "skip_thought_signature_validator",
              },
              { functionCall: { id: "call_b", name: "get_time", args: {} } },
            ],
          },
          {
            role: "user",
            parts: [
              { functionResponse: { id: "call_a", name: "get_weather", response: { celsius: 7 } } },
              { functionResponse: { id: "call_b", name: "get_time", response: { result: "noon" } } },
              { text: "So?" },
            ],
          },
        ],
      },
    },
  },
  {
    name: "a call sent back in a conversation without tools",
    wishes: {
      messages: [
        { role: "user", parts: [{ kind: "text", text: "Time?" }] },
        { role: "assistant", text: null, toolCalls: [{ id: "call_a", name: "get_time", arguments: "" }] },
        { role: "tool", toolCallId: "call_a", text: "noon" },
      ],
    },
    wires: {
      openai: {
        messages: [
          { role: "user", content: "Time?" },
          {
            role: "assistant",
            content: null,
            tool_calls: [{ id: "call_a", type: "function", function: { name: "get_time", arguments: "" } }],
          },
          { role: "tool", tool_call_id: "call_a", content: "noon" },
        ],
      },
      anthropic: {
        // "Requests which include `tool_use` or `tool_result` blocks must define tools".
        tools: [{ name: "get_time", input_schema: { type: "object" } }],
        tool_choice: { type: "none" },
        messages: [
          { role: "user", content: [{ type: "text", text: "Time?" }] },
          { role: "assistant", content: [{ type: "tool_use", id: "call_a", name: "get_time", input: {} }] },
          { role: "user", content: [{ type: "tool_result", tool_use_id: "call_a", content: "noon" }] },
        ],
      },
      gemini: {
        contents: [
          { role: "user", parts: [{ text: "Time?" }] },
          {
            role: "model",
            parts: [
              {
                functionCall: { id: "call_a", name: "get_time", args: {} },
                thoughtSignature: "skip_thought_signature_validator",
              },
            ],
          },
          {
            role: "user",
            parts: [{ functionResponse: { id: "call_a", name: "get_time", response: { result: "noon" } } }],
          },
        ],
      },
    },
  },
  {
    name: "JSON",
    feature: "response_format.json_object",
    wishes: { responseFormat: { kind: "json_object" } },
    wires: {
      openai: { response_format: { type: "json_object" } },
      anthropic: null,
      gemini: gemini({ responseMimeType: "application/json" }),
    },
  },
  {
    name: "JSON by a schema",
    feature: "response_format.json_schema",
    wishes: {
      responseFormat: { kind: "json_schema", name: "person", description: "One.", schema: SCHEMA, strict: true },
    },
    wires: {
      openai: {
        response_format: {
          type: "json_schema",
          json_schema: { name: "person", description: "One.", schema: SCHEMA, strict: true },
        },
      },
      anthropic: { output_config: { format: { type: "json_schema", schema: SCHEMA } } },
      gemini: gemini({ responseMimeType: "application/json", responseJsonSchema: SCHEMA }),
    },
  },
  {
    name: "temperature",
    wishes: { temperature: 0.5 },
    wires: { openai: { temperature: 0.5 }, anthropic: { temperature: 0.5 }, gemini: gemini({ temperature: 0.5 }) },
  },
  {
    name: "top_p",
    wishes: { topP: 0.9 },
    wires: { openai: { top_p: 0.9 }, anthropic: { top_p: 0.9 }, gemini: gemini({ topP: 0.9 }) },
  },
  {
    name: "stop sequences",
    wishes: { stop: ["END", "\n\nQ:"] },
    wires: {
      openai: { stop: ["END", "\n\nQ:"] },
      anthropic: { stop_sequences: ["END", "\n\nQ:"] },
      gemini: gemini({ stopSequences: ["END", "\n\nQ:"] }),
    },
  },
];
