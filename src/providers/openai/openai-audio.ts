// The OpenAI audio protocol: multipart POST, used by OpenAI itself and, with differences, by self-hosted servers. Each server's differences are data, a
// `Dialect`, and no code depends on the server.
import type { Feature, Lack, Preference } from "../../contract/features.ts";
import { primarySubtag } from "../../lib/text/primary-subtag.ts";
import { isSameModel, MODEL_NAMES, modelField, modelReceipt } from "../answered-model.ts";
import { supportsPreference, unmetFeatures } from "../unmet-features.ts";
import type { Io, WireRequest } from "../io.ts";
import { multipartBody } from "../wire/multipart.ts";
import { readOpenAiReply } from "./openai-audio-reply.ts";
import type {
  PlanResult,
  ProviderTranscript,
  RawTranscript,
  Receipt,
  SpeechAudio,
  SpeechPlan,
  SpeechRequest,
  SpeechTarget,
} from "../provider.ts";
import { plainId, readJsonReply, requestIdOf } from "../wire/read-reply.ts";
import { receiptsFor } from "../receipts.ts";
import type { Dialect } from "./openai-audio-dialects.ts";

type Fields = (readonly [string, string])[];

export function planAudio(request: SpeechRequest, target: SpeechTarget, dialect: Dialect): PlanResult {
  const missing: readonly Lack[] = unmetFeatures(request, target.speech, (feature) =>
    canSend(feature, request, dialect),
  );
  if (missing.length > 0) return { ok: false, missing };
  if (dialect.keyterms === "context_bias" && !fitContextBias(request.keyterms))
    return { ok: false, missing: ["keyterms_limit"] };
  const translates = request.task === "translate";
  const format = responseFormat(request, target, dialect);
  const fields: Fields = [["model", target.model]];
  if (dialect.timedFormat !== "only") fields.push(["response_format", format]);
  fields.push(...dialect.constantFields);
  const translation = dialect.translate;
  const path = translates && translation !== null && "path" in translation ? translation.path : dialect.transcribePath;
  if (translates && translation !== null && "field" in translation) fields.push([translation.field, "true"]);
  if (takesLanguage(request, dialect)) fields.push(...languageFields(request, target, dialect));
  // A granularity only refines the timed format. The translation endpoint returns only segments, by default.
  if (format === dialect.timedFormat && !translates) {
    for (const granularity of granularities(request, dialect)) fields.push([dialect.granularityField, granularity]);
  }
  if (request.diarization && dialect.diarization !== null && "field" in dialect.diarization) {
    fields.push([dialect.diarization.field, "true"]);
  }
  fields.push(...vocabularyFields(request, target, dialect));
  if (request.stream) fields.push(["stream", "true"]);
  return { ok: true, plan: { kind: "multipart", path, fields }, dropped: droppedPreferences(request, target, dialect) };
}

function granularities(request: SpeechRequest, dialect: Dialect): readonly ("word" | "segment")[] {
  switch (dialect.words) {
    case "granularity":
      return [...(request.words ? ["word" as const] : []), ...(request.segments ? ["segment" as const] : [])];
    // One list contains either: requested as words, which also contain the segments.
    case "segments":
      if (request.words) return ["word"];
      return request.segments || request.diarization ? ["segment"] : [];
    case "tokens":
    case null:
      return [];
  }
}

/** Whether the dialect has a parameter, or a default, for the feature. Other features are not part of the protocol. */
function canSend(feature: Feature, request: SpeechRequest, dialect: Dialect): boolean {
  const transcribes = request.task === "transcribe";
  const timed = dialect.timedFormat !== null;
  if (feature === "diarization") return dialect.diarization !== null && transcribes;
  if (feature === "timestamps.word") return timed && dialect.words !== null && transcribes;
  if (feature === "timestamps.segment") return timed || hasDiarizedFormat(dialect);
  if (feature === "keyterms") return dialect.keyterms !== null;
  if (feature === "streaming") return dialect.streams && transcribes;
  return feature === "translation" && dialect.translate !== null;
}

function hasDiarizedFormat(dialect: Dialect): boolean {
  return dialect.diarization !== null && "format" in dialect.diarization;
}

function responseFormat(request: SpeechRequest, target: SpeechTarget, dialect: Dialect): string {
  const timesOrSpeakers = request.segments || request.words || request.diarization;
  if (timesOrSpeakers && hasDiarizedFormat(dialect)) return "diarized_json";
  if (dialect.timedFormat === "only") return "only";
  const languageNeedsIt = detects(request, target, dialect) && dialect.languageIn === "verbose_json";
  return dialect.timedFormat !== null && (timesOrSpeakers || languageNeedsIt) ? dialect.timedFormat : "json";
}

/** A translation endpoint reports the language of its answer, not the spoken one. */
function detects(request: SpeechRequest, target: SpeechTarget, dialect: Dialect): boolean {
  return (
    request.language.kind === "detect" &&
    supportsPreference(target, "detect_language") &&
    saysSpokenLanguage(request, dialect)
  );
}

/** OpenAI's translation endpoint has no `language` parameter. A server that translates by a field on the same path has one. */
function saysSpokenLanguage(request: SpeechRequest, dialect: Dialect): boolean {
  return request.task === "transcribe" || (dialect.translate !== null && "field" in dialect.translate);
}

function takesLanguage(request: SpeechRequest, dialect: Dialect): boolean {
  const timed = request.words || request.segments || request.diarization;
  return saysSpokenLanguage(request, dialect) && !(timed && dialect.languageOrTimes === true);
}

function languageFields(request: SpeechRequest, target: SpeechTarget, dialect: Dialect): Fields {
  const { language } = request;
  switch (language.kind) {
    case "asked":
      return supportsPreference(target, "language") ? [[dialect.languageField, primarySubtag(language.tag)]] : [];
    case "default":
      return [[dialect.languageField, primarySubtag(language.tag)]];
    case "detect":
      return dialect.detectValue !== null && detects(request, target, dialect)
        ? [[dialect.languageField, dialect.detectValue]]
        : [];
    case "auto":
      return dialect.silentLanguage === null ? [] : [[dialect.languageField, dialect.silentLanguage]];
  }
}

function vocabularyFields(request: SpeechRequest, target: SpeechTarget, dialect: Dialect): Fields {
  const fields: Fields = [];
  const prompt =
    request.prompt !== null && dialect.takesPrompt && supportsPreference(target, "prompt") ? [request.prompt] : [];
  const terms = request.keyterms.length > 0 ? [request.keyterms.join(", ")] : [];
  if (dialect.keyterms === "context_bias") {
    for (const term of request.keyterms) fields.push(["context_bias", term.trim()]);
  } else if (dialect.keyterms === "keywords[]") {
    for (const term of request.keyterms) fields.push(["keywords[]", term]);
  } else if (dialect.keyterms === "hotwords") {
    for (const list of terms) fields.push(["hotwords", list]);
  } else if (dialect.keyterms === "prompt") {
    // Whisper reads the last 224 tokens of a prompt: the terms are last, because they are required.
    prompt.push(...terms);
  }
  if (prompt.length > 0) fields.push(["prompt", prompt.join("\n")]);
  return fields;
}

const MAX_CONTEXT_BIAS = 100;

/** `^[^,\s]+$` for each item (docs.mistral.ai): words that are joined in another way would be another term. */
function fitContextBias(terms: readonly string[]): boolean {
  return terms.length <= MAX_CONTEXT_BIAS && terms.every((term) => /^[^,\s]+$/u.test(term.trim()));
}

function droppedPreferences(request: SpeechRequest, target: SpeechTarget, dialect: Dialect): readonly Preference[] {
  const list: Preference[] = [];
  if (request.language.kind === "detect" && !detects(request, target, dialect)) list.push("detect_language");
  if (request.speakerCountHint !== null) list.push("speaker_count_hint");
  // These models always punctuate and format: only turning that off is ignored.
  const { smartFormatting } = request;
  if (smartFormatting === false || (smartFormatting === true && !supportsPreference(target, "smart_formatting"))) {
    list.push("smart_formatting");
  }
  if (request.prompt !== null && !(dialect.takesPrompt && supportsPreference(target, "prompt"))) list.push("prompt");
  if (
    request.language.kind === "asked" &&
    !(supportsPreference(target, "language") && takesLanguage(request, dialect))
  ) {
    list.push("language");
  }
  return list;
}

export async function transcribeAudio(plan: SpeechPlan, audio: SpeechAudio, io: Io): Promise<RawTranscript> {
  return readJsonReply(await io.send(audioRequest(plan, audio, io)), io.credential);
}

export function audioRequest(plan: SpeechPlan, audio: SpeechAudio, io: Pick<Io, "credential">): WireRequest {
  if (plan.kind !== "multipart") throw new TypeError("the OpenAI audio wire takes multipart");
  const { contentType, body } = multipartBody(plan.fields, audio);
  return {
    method: "POST",
    path: plan.path,
    headers: {
      "content-type": contentType,
      ...(io.credential === null ? {} : { authorization: `Bearer ${io.credential}` }),
    },
    body,
  };
}

export function normaliseAudio(
  raw: RawTranscript,
  request: SpeechRequest,
  target: SpeechTarget,
  audio: SpeechAudio,
  dialect: Dialect,
): ProviderTranscript {
  const planned = planAudio(request, target, dialect);
  const fields = planned.ok && planned.plan.kind === "multipart" ? planned.plan.fields : [];
  const features = {
    words: request.words,
    segments: request.segments || request.diarization,
    detection: request.language.kind === "detect",
  };
  const reply = readOpenAiReply(raw.body, features, dialect.words);
  // Words that replace segments contain them exactly.
  const timed = dialect.words === "segments" && request.words ? reply.words : reply.segments;
  const receipts = receiptsFor(
    request,
    audio,
    // The protocol has no channels: whatever was sent, the answer is one transcript.
    {
      ...reply,
      segments: timed,
      channels: 1,
      wasSent: (feature) => planned.ok && wasSent(feature, planned.plan.path, fields, dialect),
    },
    detects(request, target, dialect),
  );
  return {
    text: reply.text,
    language: saysSpokenLanguage(request, dialect) ? reply.language : null,
    languageConfidence: reply.languageConfidence,
    segments: reply.segments,
    words: reply.words,
    providerSeconds: reply.seconds,
    providerRequestId: requestIdOf(raw.headers, "x-request-id") ?? plainId(reply.requestId),
    receipts: [...receipts, ...modelReceipts(raw, target, dialect)],
  };
}

function modelReceipts({ body }: RawTranscript, target: SpeechTarget, { modelNames }: Dialect): readonly Receipt[] {
  const answered = modelField(body, "model");
  // Not in the protocol, but a server or proxy may report it.
  if (modelNames === undefined && answered === null) return [];
  const names = modelNames ?? MODEL_NAMES.compatible;
  const { answers_as: other } = target.settings;
  const asked = typeof other === "string" ? other : target.model;
  return [modelReceipt(answered, (name) => isSameModel(names, asked, name))];
}

function wasSent(
  feature: Feature,
  path: string,
  fields: readonly (readonly [string, string])[],
  dialect: Dialect,
): boolean {
  const has = (name: string): boolean => fields.some((field) => field[0] === name);
  if (feature === "keyterms") return dialect.keyterms !== null && has(dialect.keyterms);
  if (feature === "streaming") return has("stream");
  if (feature !== "translation" || dialect.translate === null) return false;
  return "path" in dialect.translate ? path === dialect.translate.path : has(dialect.translate.field);
}
