// What is reserved for a chat's input before its tokens are counted.
import assert from "node:assert/strict";
import { test } from "node:test";
import { chatFields } from "../../src/contract/chat/checked-chat-fields.ts";
import { chatRequest } from "../../src/gateway/chat/chat-request.ts";
import { estimateInputTokens } from "../../src/gateway/chat/estimate-tokens.ts";
import { CHAT_MODELS } from "../../src/providers/catalog.ts";

const IMAGE = { type: "image_url", image_url: { url: "data:image/png;base64,iVBORw0KGgo=" } };
const looking = chatRequest(chatFields.parse({ messages: [{ role: "user", content: [IMAGE] }] }), false);

// The figures of a full-size image are the providers' own: 4,784 tokens at Anthropic since Opus 4.7, 1,536 patches at 2.46 at OpenAI,
// and 2,833 with 5,667 for each of eight tiles.
for (const [provider, model, imageTokens] of [
  ["anthropic", "claude-opus-5", 4_784],
  ["openai", "gpt-4.1-nano", 3_779],
  ["openai", "gpt-4o-mini", 2_833 + 8 * 5_667],
  ["gemini", "gemini-3.5-flash", 1_120],
] as const) {
  test(`metering.reserve-chat: an image for ${model} is reserved at no less than the ${imageTokens} tokens it may be`, () => {
    const known = CHAT_MODELS[provider]?.[model];
    assert(known !== undefined);
    const estimate = estimateInputTokens(looking, known.limits);
    assert(estimate >= imageTokens, `${estimate} tokens are reserved`);
  });
}
