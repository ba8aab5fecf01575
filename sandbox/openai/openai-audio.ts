// Simulates OpenAI's `POST /v1/audio/transcriptions` and `/v1/audio/translations`.
import {
  invalidKey,
  missingKey,
  openAiError,
  openAiErrorForStatus,
  type OpenAiFault,
  shutDown,
  tooLarge,
} from "./openai-errors.ts";
import { isRetired } from "../retired-models.ts";
import { anyWhisper, findModel } from "./openai-models.ts";
import { openAiReply } from "./openai-reply.ts";
import { findWrongAudio, judgeOpenAiFields } from "./openai-rules.ts";
import { type Alteration, valueOf, type Wire, type WireAnswer, type WireInput } from "../wire/wire.ts";

/** The limit applies to the whole multipart body, including its framing. */
export const OPENAI_BODY_BYTES = 26_214_400;

interface OpenAiOptions {
  readonly name: "openai" | "compatible";
  readonly task: "transcribe" | "translate";
}

export function openAiWire({ name, task }: OpenAiOptions): Wire {
  const isCompatible = name === "compatible";
  async function answer(input: WireInput, alteration: Alteration): Promise<WireAnswer> {
    const { requestId, fields, file } = input;
    const refuse = (status: number, fault: OpenAiFault): WireAnswer => openAiError(status, fault, requestId);
    const keyFault = findWrongKey(input.headers.authorization, isCompatible);
    if (keyFault !== null) return refuse(401, keyFault);
    if (input.defect === "too_large") return refuse(413, tooLarge(OPENAI_BODY_BYTES, input.bodyBytes));
    if (input.defect !== null) return refuse(400, { message: "Could not parse multipart form" });
    const [unexpected] = input.query;
    if (unexpected !== undefined)
      return refuse(400, {
        message: `Unknown parameter: '${unexpected[0]}'.`,
        param: unexpected[0],
        code: "unknown_parameter",
      });
    const modelName = valueOf(fields, "model") ?? "";
    if (modelName === "") return refuse(400, { message: "you must provide a model parameter", param: "model" });
    const model = findModel(modelName) ?? (isCompatible ? anyWhisper(modelName) : null);
    if (model === null || (task === "translate" && model.family !== "whisper")) {
      return refuse(404, {
        message: `The model '${modelName}' does not exist or you do not have access to it.`,
        param: "model",
        code: "model_not_found",
      });
    }
    // A compatible server keeps its own models.
    if (!isCompatible && isRetired("openai", modelName, input.nowMs)) return refuse(404, shutDown(modelName));
    if (file === null || file.fieldName !== "file")
      return refuse(400, {
        message: "Missing required parameter: 'file'.",
        param: "file",
        code: "missing_required_parameter",
      });
    const verdict = judgeOpenAiFields(fields, model, task);
    if (!verdict.ok) return refuse(400, verdict.fault);
    const facts = await input.measure();
    const audioFault = findWrongAudio(file.name, facts, model);
    if (audioFault !== null || !facts.ok)
      return refuse(400, audioFault ?? { message: "Audio file might be corrupted or unsupported" });
    return openAiReply({ asked: verdict.asked, facts, requestId, alteration });
  }
  return { name, body: "multipart", maxBodyBytes: OPENAI_BODY_BYTES, errorFor: openAiErrorForStatus, answer };
}

export function findWrongKey(header: string | undefined, isOptional: boolean): OpenAiFault | null {
  if (header === undefined) return isOptional ? null : missingKey;
  const key = /^Bearer ([^\s]+)$/i.exec(header)?.[1];
  if (key === undefined) return missingKey;
  return key === "invalid" ? invalidKey(key) : null;
}
