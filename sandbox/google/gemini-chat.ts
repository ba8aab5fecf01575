// Simulates Gemini's `generateContent` and `streamGenerateContent` for chat.
import { randomUUID } from "node:crypto";
import { type SimulatedChat, simulateChat } from "../chat-simulate.ts";
import { judgeGemini } from "./gemini-chat-rules.ts";
import { findWrongGeminiKey } from "./gemini-key.ts";
import { googleError, googleErrorForStatus } from "./google-errors.ts";
import { answeringModel } from "../retired-models.ts";
import {
  type Alteration,
  type EventBody,
  jsonAnswer,
  valueOf,
  type Wire,
  type WireAnswer,
  type WireInput,
} from "../wire/wire.ts";

const MAX_BODY_BYTES = 20_971_520;

export const geminiChatWire: Wire = {
  name: "gemini",
  body: "json",
  modelOf: ({ path }) => placeIn(path).model,
  maxBodyBytes: MAX_BODY_BYTES,
  errorFor: (status) => geminiErrorForStatus(status),
  answer: async (input, alteration) => answer(input, alteration),
};

/** Quota errors contain the retry delay only in the body. */
function geminiErrorForStatus(status: number): WireAnswer {
  if (status !== 429) return googleErrorForStatus(status);
  return googleError(429, "You exceeded your current quota, please check your plan and billing details.", [
    { "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "37s" },
  ]);
}

function placeIn(path: string): { readonly model: string; readonly method: string } {
  const [, model = "", method = ""] = /\/models\/([^:/]+):([A-Za-z]+)$/u.exec(path) ?? [];
  return { model: decodeURIComponent(model), method };
}

function answer(input: WireInput, alteration: Alteration): WireAnswer {
  const { model, method } = placeIn(input.path);
  const keyFault = findWrongGeminiKey(input);
  if (keyFault !== null) return keyFault;
  if (input.defect === "too_large")
    return googleError(400, `Request payload size exceeds the limit: ${MAX_BODY_BYTES} bytes.`);
  if (method !== "generateContent" && method !== "streamGenerateContent") return googleError(404, "Not found.");
  if (!model.startsWith("gemini-") || /transcribe|embedding|tts/u.test(model))
    return googleError(
      404,
      `models/${model} is not found for API version v1beta, or is not supported for ${method}. Call ListModels to see the list of available models and their supported methods.`,
    );
  if (input.json === undefined) return googleError(400, "Invalid JSON payload received. Unexpected token.");
  const verdict = judgeGemini(input.json, model);
  if (!verdict.ok) return googleError(400, verdict.message);
  const simulated = simulateChat(verdict.asked, alteration);
  const answering = alteration.otherModel ?? answeringModel(model, input.nowMs);
  if (method === "generateContent") return jsonAnswer(200, buildResponse(simulated, answering));
  const fragments = fragmentsOf(simulated, answering);
  // Without `alt=sse` a stream is one JSON array.
  return valueOf(input.query, "alt") === "sse"
    ? { status: 200, headers: { "content-type": "text/event-stream" }, body: eventsOf(fragments) }
    : jsonAnswer(200, [...fragments.contents, ...fragments.end]);
}

const FINISH = { stop: "STOP", length: "MAX_TOKENS", calls: "STOP", withheld: "SAFETY" } as const;
/** The signature of a signed call. Any signature is accepted. */
const SIGNATURE = Buffer.from("sandbox-signature").toString("base64");

function callParts({ calls }: SimulatedChat, model: string): readonly object[] {
  const isSigned = !/^gemini-(?:1|2)/u.test(model);
  return calls.map(({ name, args }, index) => ({
    functionCall: { id: randomUUID().slice(0, 8), name, args },
    ...(isSigned && index === 0 ? { thoughtSignature: SIGNATURE } : {}),
  }));
}

function usageOf({ usage }: SimulatedChat): object {
  return usage === null
    ? {}
    : {
        usageMetadata: {
          promptTokenCount: usage.input,
          candidatesTokenCount: usage.output,
          totalTokenCount: usage.input + usage.output,
          promptTokensDetails: [{ modality: "TEXT", tokenCount: usage.input }],
        },
      };
}

function fragment(parts: readonly object[], more: object, model: string, tail: object): object {
  return {
    candidates: [{ content: { role: "model", parts }, index: 0, ...more }],
    ...tail,
    modelVersion: model,
    responseId: "sandbox",
  };
}

function buildResponse(simulated: SimulatedChat, model: string): object {
  const text = simulated.pieces.join("");
  const parts = [...(text === "" ? [] : [{ text }]), ...callParts(simulated, model)];
  return fragment(parts, { finishReason: FINISH[simulated.finish] }, model, usageOf(simulated));
}

interface Fragments {
  readonly contents: readonly object[];
  readonly end: readonly object[];
}

function fragmentsOf(simulated: SimulatedChat, model: string): Fragments {
  const early =
    simulated.usage === null
      ? {}
      : { usageMetadata: { promptTokenCount: simulated.usage.input, totalTokenCount: simulated.usage.input } };
  const parts = [...simulated.pieces.map((text) => ({ text })), ...callParts(simulated, model)];
  return {
    contents: parts.map((part) => fragment([part], {}, model, early)),
    end: [fragment([{ text: "" }], { finishReason: FINISH[simulated.finish] }, model, usageOf(simulated))],
  };
}

function eventsOf({ contents, end }: Fragments): EventBody {
  const event = (body: object): string => `data: ${JSON.stringify(body)}\r\n\r\n`;
  const failure = { error: { code: 503, message: "The model is overloaded.", status: "UNAVAILABLE" } };
  return { head: [], contents: contents.map(event), end: end.map(event), failure: event(failure) };
}
