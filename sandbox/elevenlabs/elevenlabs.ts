// Simulates ElevenLabs' batch endpoint and the transcripts that it stores [providers.sandbox-kept].
import { randomUUID } from "node:crypto";
import { elevenLabsTranscript } from "./elevenlabs-reply.ts";
import { badRequest, judgeElevenLabsFields, MAX_BODY_BYTES } from "./elevenlabs-rules.ts";
import { invalidField } from "../wire/fastapi-error.ts";
import {
  type Alteration,
  jsonAnswer,
  lastSegment,
  valueOf,
  type Wire,
  type WireAnswer,
  type WireInput,
} from "../wire/wire.ts";

interface Kept {
  readonly key: string;
  readonly model: string;
  readonly body: Record<string, unknown>;
}

const MIN_SECONDS = 0.1;

export function elevenLabsWires(): Readonly<Record<"submit" | "poll" | "remove" | "models", Wire>> {
  const transcripts = new Map<string, Kept>();

  async function submit(input: WireInput, alteration: Alteration): Promise<WireAnswer> {
    if (input.defect === "too_large") return elevenLabsError(413, "file_too_large", "The file is too large.");
    if (input.defect !== null) return invalidField("file", "Field required");
    const verdict = judgeElevenLabsFields(input.fields, input.file?.fieldName === "file", input.nowMs);
    if (!verdict.ok) return verdict.refusal;
    const unknown = input.query.find(([name, value]) => name !== "enable_logging" || !isBoolean(value));
    if (unknown !== undefined) return invalidField(unknown[0], "Unknown query parameter");
    const facts = await input.measure();
    if (!facts.ok && !facts.isTooShort)
      return badRequest("invalid_audio", "The file is not a valid audio or video file.", "file");
    if (!facts.ok || facts.durationSeconds < MIN_SECONDS)
      return badRequest("audio_too_short", "The audio is shorter than 100 ms.", "file");
    const { asked } = verdict;
    if (asked.isMultichannel && facts.channels > 5)
      return badRequest("invalid_parameters", "At most 5 channels are supported.", "use_multi_channel");
    const id = randomUUID().replaceAll("-", "");
    const body = elevenLabsTranscript({ id, asked, facts, alteration });
    const isKept = valueOf(input.query, "enable_logging") !== "false";
    if (isKept) transcripts.set(id, { key: keyOf(input), model: asked.model, body });
    return jsonAnswer(200, body, { "request-id": input.requestId });
  }

  async function poll(input: WireInput): Promise<WireAnswer> {
    const transcript = find(input);
    return transcript === undefined ? notFound : jsonAnswer(200, transcript.body);
  }

  async function remove(input: WireInput): Promise<WireAnswer> {
    if (find(input) === undefined) return notFound;
    transcripts.delete(lastSegment(input.path));
    return jsonAnswer(200, { message: "Delete completed successfully." });
  }

  function find(input: WireInput): Kept | undefined {
    const transcript = transcripts.get(lastSegment(input.path));
    return transcript?.key === keyOf(input) ? transcript : undefined;
  }

  const wire = (step: "submit" | "poll" | "remove" | "probe", answer: Wire["answer"]): Wire => ({
    name: "elevenlabs",
    step,
    body: step === "submit" ? "multipart" : "none",
    modelField: "model_id",
    maxBodyBytes: MAX_BODY_BYTES,
    errorFor: (status) => elevenLabsErrorForStatus(status),
    answer: async (input, alteration) =>
      isAuthorized(keyOf(input))
        ? answer(input, alteration)
        : elevenLabsError(401, "invalid_api_key", "Invalid API key"),
    ...(step === "submit" ? {} : { modelOf: ({ path }) => transcripts.get(lastSegment(path))?.model ?? "" }),
  });
  return {
    submit: wire("submit", submit),
    poll: wire("poll", poll),
    remove: wire("remove", remove),
    models: wire("probe", async () => jsonAnswer(200, SPEAKING)),
  };
}

/** `GET /v1/models` lists text-to-speech models, not those that transcribe. */
const SPEAKING = [
  { id: "eleven_multilingual_v2", name: "Eleven Multilingual v2" },
  { id: "eleven_flash_v2_5", name: "Eleven Flash v2.5" },
].map(({ id, name }) => ({
  model_id: id,
  name,
  description: name,
  can_do_text_to_speech: true,
  can_do_voice_conversion: false,
  can_be_finetuned: false,
  requires_alpha_access: false,
  maximum_text_length_per_request: 10_000,
  token_cost_factor: 1,
  languages: [{ language_id: "en", name: "English" }],
}));

const CODES: Readonly<Record<number, readonly [status: string, message: string]>> = {
  400: ["invalid_parameters", "The request could not be processed."],
  401: ["invalid_api_key", "Invalid API key"],
  402: ["payment_required", "Payment required."],
  403: ["missing_permissions", "The API key is missing a permission."],
  404: ["transcript_not_found", "Transcript not found."],
  413: ["file_too_large", "The file is too large."],
  422: ["invalid_parameters", "The request could not be processed."],
  429: ["too_many_concurrent_requests", "Too many concurrent requests."],
  503: ["system_busy", "The system is busy."],
};

export function elevenLabsErrorForStatus(status: number): WireAnswer {
  const [code, message] = CODES[status] ?? ["internal_server_error", "An error occurred."];
  return elevenLabsError(status, code, message);
}

/** The older of its two error formats, which most errors still have. */
function elevenLabsError(status: number, code: string, message: string): WireAnswer {
  return jsonAnswer(status, { detail: { status: code, message } });
}

const notFound = elevenLabsErrorForStatus(404);

const isBoolean = (value: string): boolean => value === "true" || value === "false";
const isAuthorized = (key: string): boolean => key !== "" && key !== "invalid";
const keyOf = ({ headers }: Pick<WireInput, "headers">): string => String(headers["xi-api-key"] ?? "");
