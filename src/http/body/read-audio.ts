// Reads a request with audio: validates the fields and writes the audio to the spool, hashed and counted, stopping as soon as the limit is exceeded
// [request-body.max-audio-bytes] [request-body.refused-while-reading].
import type { IncomingHttpHeaders } from "node:http";
import type { Readable } from "node:stream";
import type { z } from "zod";
import type { AudioInput } from "../../audio/audio-input.ts";
import { type Spool } from "../../audio/spool.ts";
import { audioTooLarge } from "../../audio/audio-too-large.ts";
import { audioFields, type TranscriptionFields } from "../../contract/transcription/transcription-fields.ts";
import { createAudioIntake } from "./audio-intake.ts";
import { type BodyType, declaredLength, parseContentType, readBodyType } from "./content-type.ts";
import { createFaults } from "./validation-issues.ts";
import { type FieldSchema, validateFields } from "./fields.ts";
import { safeFileName } from "./form/file-name.ts";
import { readFormBody } from "./read-audio-form.ts";
import { type BodyReading, FORM_FRAMING_BYTES, MAX_REST_BYTES, type RawBody } from "./raw-body.ts";
import { readJsonBody } from "./read-audio-json.ts";
import { refuseQuery } from "./refuse-query.ts";

export interface Submission<Fields = TranscriptionFields> {
  /** Validated by the schema, without nulls. `purpose` is the body's own, not the header's. */
  readonly fields: Fields;
  readonly audio: AudioInput;
}

export interface SubmissionRequest {
  readonly headers: IncomingHttpHeaders;
  /** The unread request itself. */
  readonly body: Readable;
  readonly query: Readonly<Record<string, unknown>>;
}

export interface SubmissionOptions {
  readonly spool: Spool;
  readonly maxAudioBytes: number;
  /** Whether the endpoint needs the hash, with or without an idempotency key. */
  readonly hashed?: boolean;
}

/** A `model` in the schema is an ordinary field, not route control. */
export async function readSubmission<S extends FieldSchema>(
  schema: S,
  request: SubmissionRequest,
  options: SubmissionOptions,
): Promise<Submission<z.infer<S>>> {
  const type = readBodyType(request.headers, { multipart: true });
  refuseDeclaredLength(request.headers, type, options.maxAudioBytes);
  const faults = createFaults(schema.shape);
  refuseQuery(request.query, faults);
  const intake = createAudioIntake({
    spool: options.spool,
    maxBytes: options.maxAudioBytes,
    // With an idempotency key, the hash is part of the request's fingerprint.
    hashed: options.hashed === true || request.headers["idempotency-key"] !== undefined,
    leastBytes: leastAudioBytes(request.headers, type),
    faults,
  });
  try {
    const reading: BodyReading = { body: request.body, intake, faults, schema, maxAudioBytes: options.maxAudioBytes };
    const raw = type.kind === "json" ? await readJsonBody(reading) : await readFormBody(reading, type);
    return await validateSubmission(schema, raw, type, reading);
  } catch (error) {
    await intake.abort();
    throw faults.outrank(error);
  }
}

/** All other content of a body is limited, so that any further announced bytes are audio, or in a form a very long list. */
function leastAudioBytes(headers: IncomingHttpHeaders, type: BodyType): number {
  const declaredBytes = declaredLength(headers) ?? 0;
  return type.kind === "json"
    ? Math.floor((declaredBytes - MAX_REST_BYTES) * 0.75)
    : declaredBytes - FORM_FRAMING_BYTES;
}

function refuseDeclaredLength(headers: IncomingHttpHeaders, type: BodyType, maxAudioBytes: number): void {
  const declaredBytes = declaredLength(headers);
  const maxDeclared = type.kind === "json" ? maxAudioBytes : maxAudioBytes + FORM_FRAMING_BYTES;
  if (declaredBytes === null || declaredBytes <= maxDeclared) return;
  throw audioTooLarge({ maxBytes: maxAudioBytes, param: type.kind === "json" ? "audio" : "file" }, declaredBytes);
}

async function validateSubmission<S extends FieldSchema>(
  schema: S,
  raw: RawBody,
  type: BodyType,
  reading: BodyReading,
): Promise<Submission<z.infer<S>>> {
  const { faults, intake } = reading;
  const fields = validateFields(schema, raw.fields, faults);
  const audio = validateFields(audioFields, raw.audio, faults, "audio.");
  const sources: string[] = [...intake.params];
  if (raw.audio.has("url") && raw.audio.get("url") !== null) sources.push("audio.url");
  if (sources.length === 0 && !faults.concernAudio()) {
    const param = type.kind === "json" ? "audio" : "file";
    faults.add(param, "No audio: send a multipart `file`, `audio.base64`, `audio.data` or `audio.url`.");
  }
  if (new Set(sources).size > 1)
    faults.add("audio", `Exactly one audio source is allowed; the request has ${[...new Set(sources)].join(", ")}.`);
  faults.throwIfAny();
  if (fields === undefined || audio === undefined) throw new Error("fields were refused without a fault");
  const fileNameHint = safeFileName(audio.filename ?? raw.fileName);
  const declaredType = parseContentType(audio.media_type)?.type ?? null;
  if (audio.url !== undefined)
    return { fields, audio: { kind: "url", url: audio.url, mediaTypeHint: declaredType, fileNameHint } };
  const intakeResult = await intake.finish();
  if (intakeResult === null) throw new Error("a source was counted that took no audio");
  return {
    fields,
    audio: {
      kind: "spooled",
      spooled: intakeResult.spooled,
      param: intakeResult.param,
      mediaTypeHint: declaredType ?? raw.mediaType ?? intakeResult.mediaType,
      fileNameHint,
    },
  };
}
