// Simulates Anthropic's `GET /v1/models` (platform.claude.com, "List models"): newest first, older models under their dated snapshot names.
import { anthropicWire, headersOf, judgeAnthropicHead } from "./anthropic.ts";
import { isRetired } from "../retired-models.ts";
import { jsonAnswer, valueOf, type Wire, type WireAnswer, type WireInput } from "../wire/wire.ts";

const ALL_IDS = [
  "claude-fable-5-2",
  "claude-haiku-5-5",
  "claude-sonnet-5-5",
  "claude-opus-5-5",
  "claude-opus-5",
  "claude-sonnet-5",
  "claude-opus-4-8",
  "claude-sonnet-4-6",
  "claude-opus-4-6",
  "claude-opus-4-5-20251101",
  "claude-haiku-4-5-20251001",
  "claude-sonnet-4-5-20250929",
];
const USUAL_LIMIT = 20;
const MOST = 1_000;

export const anthropicModelsWire: Wire = {
  name: "anthropic",
  step: "probe",
  body: "none",
  maxBodyBytes: 1_048_576,
  errorFor: anthropicWire.errorFor,
  answer: async (input) => answer(input),
};

function answer(input: WireInput): WireAnswer {
  const head = judgeAnthropicHead(input);
  if (!head.ok) return head.refusal;
  const limit = Number(valueOf(input.query, "limit") ?? USUAL_LIMIT);
  if (!Number.isInteger(limit) || limit < 1 || limit > MOST) return anthropicWire.errorFor(400, input.requestId);
  const afterId = valueOf(input.query, "after_id");
  const ids = ALL_IDS.filter((id) => !isRetired("anthropic", id, input.nowMs));
  const begin = afterId === null ? 0 : ids.indexOf(afterId) + 1;
  const page = ids.slice(begin, begin + limit);
  const data = page.map((id) => ({ type: "model", id, display_name: id, created_at: "2025-09-29T00:00:00Z" }));
  return jsonAnswer(
    200,
    {
      data,
      has_more: begin + limit < ids.length,
      first_id: page[0] ?? null,
      last_id: page.at(-1) ?? null,
    },
    headersOf(input.requestId),
  );
}
