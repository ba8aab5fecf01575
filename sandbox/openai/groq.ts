// Simulates Groq's Whisper: OpenAI's protocol with fewer formats, two models and its own request id [providers.sandbox-dialects].
import { openAiError } from "./openai-errors.ts";
import { openAiWire } from "./openai-audio.ts";
import { type Alteration, valueOf, type Wire, type WireAnswer, type WireInput } from "../wire/wire.ts";

const FORMATS = ["json", "text", "verbose_json"];
const TURBO = "whisper-large-v3-turbo";

export function groqWire(task: "transcribe" | "translate"): Wire {
  const wire = openAiWire({ name: "compatible", task });
  async function answer(input: WireInput, alteration: Alteration): Promise<WireAnswer> {
    const refuse = (message: string): WireAnswer => openAiError(400, { message }, input.requestId);
    if (input.headers.authorization === undefined) {
      return openAiError(401, { message: "Invalid API Key", code: "invalid_api_key" }, input.requestId);
    }
    const format = valueOf(input.fields, "response_format") ?? "json";
    if (!FORMATS.includes(format)) return refuse(`response_format must be one of [${FORMATS.join(", ")}]`);
    const model = valueOf(input.fields, "model");
    if (task === "translate" && model === TURBO) return refuse(`model \`${TURBO}\` does not support translation`);
    return addGroqId(await wire.answer(input, alteration), input.requestId);
  }
  return { ...wire, answer };
}

function addGroqId(answer: WireAnswer, requestId: string): WireAnswer {
  if (answer.status !== 200 || typeof answer.body !== "string" || !answer.body.startsWith("{")) return answer;
  const body = { ...(JSON.parse(answer.body) as object), x_groq: { id: `req_${requestId}` } };
  return { ...answer, body: JSON.stringify(body) };
}
