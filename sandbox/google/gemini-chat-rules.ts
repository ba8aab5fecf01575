// Validates requests to Gemini's generateContent for chat and parses what they request [providers.sandbox-refusals].
import { z } from "zod";
import type { ChatAsked } from "../chat-simulate.ts";
import { audioFormatOf, imageTypeOf } from "../wire/media-content.ts";

const part = z.strictObject({
  text: z.string().optional(),
  thought: z.boolean().optional(),
  thoughtSignature: z.string().optional(),
  inlineData: z.strictObject({ mimeType: z.string(), data: z.string() }).optional(),
  functionCall: z
    .strictObject({ id: z.string().optional(), name: z.string(), args: z.record(z.string(), z.unknown()).optional() })
    .optional(),
  functionResponse: z
    .strictObject({ id: z.string().optional(), name: z.string(), response: z.record(z.string(), z.unknown()) })
    .optional(),
});
const content = z.strictObject({ role: z.enum(["user", "model"]).optional(), parts: z.array(part).min(1) });
type Content = z.infer<typeof content>;

const schema = z.record(z.string(), z.unknown());

const request = z.strictObject({
  systemInstruction: z.strictObject({ role: z.string().optional(), parts: z.array(part).min(1) }).optional(),
  contents: z.array(content).min(1),
  generationConfig: z
    .strictObject({
      maxOutputTokens: z.int().min(1).optional(),
      temperature: z.number().min(0).max(2).optional(),
      topP: z.number().min(0).max(1).optional(),
      topK: z.number().optional(),
      seed: z.int32().optional(),
      stopSequences: z.array(z.string()).max(5).optional(),
      candidateCount: z.literal(1).optional(),
      responseMimeType: z.enum(["text/plain", "application/json"]).optional(),
      responseSchema: schema.optional(),
      responseJsonSchema: schema.optional(),
      thinkingConfig: z
        .strictObject({
          thinkingLevel: z.enum(["MINIMAL", "LOW", "MEDIUM", "HIGH"]).optional(),
          thinkingBudget: z.int().min(-1).optional(),
          includeThoughts: z.boolean().optional(),
        })
        .optional(),
    })
    .optional(),
  tools: z
    .array(
      z.strictObject({
        functionDeclarations: z
          .array(
            z.strictObject({
              name: z.string().regex(/^[A-Za-z_][A-Za-z0-9_.:-]{0,63}$/u),
              description: z.string().optional(),
              parameters: schema.optional(),
              parametersJsonSchema: schema.optional(),
            }),
          )
          .optional(),
      }),
    )
    .optional(),
  toolConfig: z
    .strictObject({
      functionCallingConfig: z
        .strictObject({
          mode: z.enum(["AUTO", "ANY", "NONE", "VALIDATED"]).optional(),
          allowedFunctionNames: z.array(z.string()).optional(),
        })
        .optional(),
    })
    .optional(),
  safetySettings: z.array(z.looseObject({})).optional(),
});
export type GeminiChat = z.infer<typeof request>;

export type GeminiJudgement =
  | { readonly ok: true; readonly asked: ChatAsked }
  | { readonly ok: false; readonly message: string };

export function judgeGemini(json: unknown, model: string): GeminiJudgement {
  const parsed = request.safeParse(json);
  if (!parsed.success) return { ok: false, message: messageOf(parsed.error) };
  const fault =
    findWrongConfig(parsed.data, model) ?? findWrongTurns(parsed.data.contents, model) ?? findWrongMedia(parsed.data);
  return fault === null ? { ok: true, asked: askedOf(parsed.data) } : { ok: false, message: fault };
}

function messageOf(error: z.ZodError): string {
  const [issue] = error.issues;
  const at = (issue?.path ?? [])
    .map((step) => (typeof step === "number" ? `[${step}]` : `.${String(step)}`))
    .join("")
    .replace(/^\./u, "");
  if (issue?.code === "unrecognized_keys")
    return `Invalid JSON payload received. Unknown name "${issue.keys[0]}"${at === "" ? "" : ` at '${at}'`}: Cannot find field.`;
  if (at === "contents") return "* GenerateContentRequest.contents: contents is not specified";
  if (at.endsWith(".role")) return "Please use a valid role: user, model.";
  return `Invalid value at '${at}': ${issue?.message ?? "invalid"}`;
}

const isBefore3 = (model: string): boolean => /^gemini-(?:1|2)/u.test(model);
const namesOf = ({ tools }: GeminiChat) => (tools ?? []).flatMap((tool) => tool.functionDeclarations ?? []);

function findWrongConfig(chat: GeminiChat, model: string): string | null {
  const config = chat.generationConfig;
  const declared = namesOf(chat);
  const isJson = config?.responseMimeType === "application/json";
  if ((config?.responseSchema !== undefined || config?.responseJsonSchema !== undefined) && !isJson)
    return "Response schema requires the response mime type 'application/json'.";
  if (isJson && declared.length > 0 && isBefore3(model))
    return "Function calling with a response mime type: 'application/json' is unsupported";
  if ((config?.maxOutputTokens ?? 0) > 65_536)
    return `Unable to submit request because it has a maxOutputTokens value of ${config?.maxOutputTokens} but the supported range is from 1 (inclusive) to 65537 (exclusive).`;
  const calling = chat.toolConfig?.functionCallingConfig;
  if ((calling?.mode === "ANY" || calling?.mode === "VALIDATED") && declared.length === 0)
    return "Function calling config is set without function_declarations.";
  if (calling?.allowedFunctionNames !== undefined && calling.mode !== "ANY" && calling.mode !== "VALIDATED")
    return "Please set allowed_function_names only when function calling mode is ANY.";
  const unknown = calling?.allowedFunctionNames?.find((name) => !declared.some((each) => each.name === name));
  return unknown === undefined ? null : `allowed_function_names: ${unknown} is not declared.`;
}

function findWrongTurns(contents: readonly Content[], model: string): string | null {
  const lastQuestion = contents.findLastIndex(
    (each) => each.role !== "model" && each.parts.some((one) => one.functionResponse === undefined),
  );
  for (const [index, each] of contents.entries()) {
    const calls = each.parts.filter((one) => one.functionCall !== undefined);
    const next = contents[index + 1];
    const responses = (next?.parts ?? []).filter((one) => one.functionResponse !== undefined);
    if (calls.length > 0 && next !== undefined && responses.length !== calls.length)
      return "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.";
    if (calls.length > 0 && index === 0)
      return "Please ensure that function call turn comes immediately after a user turn or after a function response turn.";
    const answers = each.parts.filter((one) => one.functionResponse !== undefined);
    const precedingCalls = (contents[index - 1]?.parts ?? []).filter((one) => one.functionCall !== undefined);
    if (answers.length > 0 && precedingCalls.length === 0)
      return "Please ensure that function response turn comes immediately after a function call turn.";
    const [first] = calls;
    // Signatures are checked in the current turn, where only the first of several calls has one.
    if (!isBefore3(model) && first !== undefined && index > lastQuestion && first.thoughtSignature === undefined)
      return `Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing thought_signature may lead to degraded model performance. Additional data, function call \`default_api:${first.functionCall?.name}\` , position ${index + 1}.`;
  }
  return null;
}

function findWrongMedia({ contents }: GeminiChat): string | null {
  for (const { inlineData } of contents.flatMap((each) => each.parts)) {
    if (inlineData === undefined) continue;
    const { mimeType, data } = inlineData;
    const isKnown = /^(?:image\/(?:png|jpeg|webp|heic|heif)|audio\/(?:wav|mp3|aiff|aac|ogg|flac))$/u.test(mimeType);
    if (!isKnown) return `Unsupported MIME type: ${mimeType}`;
    if (mimeType.startsWith("image/") && imageTypeOf(data)?.slice(0, 10) !== mimeType.slice(0, 10))
      return "Unable to process input image. Please retry or report in https://developers.generativeai.google/guide/troubleshooting";
    if (["audio/wav", "audio/mp3"].includes(mimeType) && audioFormatOf(data) !== mimeType.slice("audio/".length))
      return "Request contains an invalid argument.";
  }
  return null;
}

function askedOf(chat: GeminiChat): ChatAsked {
  const { contents, generationConfig: config } = chat;
  const parts = contents.flatMap((each) => each.parts);
  const system = chat.systemInstruction?.parts ?? [];
  const responses = parts.filter((each) => each.functionResponse !== undefined);
  const media = (kind: string): number => parts.filter((each) => each.inlineData?.mimeType.startsWith(kind)).length;
  const calling = chat.toolConfig?.functionCallingConfig;
  const [allowedName] = calling?.allowedFunctionNames ?? [];
  const schema = config?.responseJsonSchema ?? config?.responseSchema;
  return {
    messages: (system.length > 0 ? 1 : 0) + contents.reduce((sum, each) => sum + messagesIn(each), 0),
    text: [...system, ...parts].map((each) => each.text ?? resultText(each.functionResponse?.response)).join(" "),
    images: media("image/"),
    audios: media("audio/"),
    results: responses.length,
    endsWithResult: contents.at(-1)?.parts.at(-1)?.functionResponse !== undefined,
    tools: namesOf(chat).map(({ name, parameters, parametersJsonSchema }) => ({
      name,
      schema: parametersJsonSchema ?? parameters ?? {},
    })),
    choice:
      allowedName === undefined
        ? { kind: calling?.mode === "ANY" ? "required" : calling?.mode === "NONE" ? "none" : "auto" }
        : { kind: "tool", name: allowedName },
    isParallel: true,
    format:
      schema !== undefined
        ? { kind: "schema", schema }
        : { kind: config?.responseMimeType === "application/json" ? "json" : "text" },
    maxTokens: config?.maxOutputTokens ?? null,
    stop: config?.stopSequences ?? [],
  };
}

/** Text that was wrapped in an object because the API requires one. */
function resultText(response: Readonly<Record<string, unknown>> | undefined): string {
  if (response === undefined) return "";
  const { result } = response;
  return typeof result === "string" ? result : JSON.stringify(response);
}

/** Other protocols send a result as a separate message, so it counts as one here. */
function messagesIn({ parts }: Content): number {
  const results = parts.filter((each) => each.functionResponse !== undefined).length;
  return results + (results < parts.length ? 1 : 0);
}
