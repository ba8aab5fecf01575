// Reads a request with audio that is a multipart form: the file part or a base64 field goes to the spool, every other field becomes text.
import { z } from "zod";
import { audioTooLarge } from "../../audio/audio-too-large.ts";
import { audioFields } from "../../contract/transcription/transcription-fields.ts";
import { asRecord } from "../../lib/json/json-guards.ts";
import { eachChunk } from "./body-chunks.ts";
import { createByteCollector } from "./byte-collector.ts";
import { type Charset, charsetOf, decodeText, unsupportedCharset } from "./form/field-charset.ts";
import { notAField, type TextField, textKind, validateFields, valueOfText } from "./fields.ts";
import { formField } from "./form/form-field.ts";
import type { Faults } from "./validation-issues.ts";
import { createFormFiles } from "./form/form-files.ts";
import { createMultipartReader, IGNORED, MultipartFault, type PartReceiver } from "./form/multipart.ts";
import type { PartHeaders } from "./form/part-headers.ts";
import { type BodyReading, FORM_FRAMING_BYTES, MAX_REST_BYTES, type RawBody } from "./raw-body.ts";

const MAX_VALUE_BYTES = 65_536;
/** Limit for all lists together: a thousand terms of a hundred characters are longer than any other value. */
const MAX_LIST_BYTES = MAX_REST_BYTES;
/** The field with the default charset of all other fields (RFC 7578, section 4.6). */
const CHARSET_FIELD = "_charset_";

/** A form field, decoded after the whole form was read because `_charset_` may be sent last. */
interface EncodedField {
  readonly isBracketed: boolean;
  readonly values: { readonly bytes: Buffer; readonly charset: Charset | null }[];
}

export async function readFormBody(
  reading: BodyReading,
  { boundary, charset }: { readonly boundary: string; readonly charset: Charset | null },
): Promise<RawBody> {
  const { faults, intake, maxAudioBytes, schema } = reading;
  const texts = new Map<string, EncodedField>();
  const files = createFormFiles(intake, faults);
  let listBytes = 0;

  function onPart(part: PartHeaders): PartReceiver {
    if (faults.noteRouteControl(part.name)) return IGNORED;
    if (part.name === "file") return files.take(part);
    if (part.name === "audio" || part.name === "audio.base64" || part.name === "audio.data")
      return onBase64(part, part.name);
    if (part.name === CHARSET_FIELD) return onText(part, CHARSET_FIELD, false, z.string());
    const isBracketed = part.name.endsWith("[]");
    const name = isBracketed ? part.name.slice(0, -2) : part.name;
    const field = formField(schema, name);
    if (field === null) {
      faults.add(part.name, notAField(schema, part.name));
      return IGNORED;
    }
    if (part.fileName !== null) {
      faults.add(name, `\`${name}\` must be a plain field, without a file name.`);
      return IGNORED;
    }
    return onText(part, name, isBracketed, field.type);
  }

  function onBase64(part: PartHeaders, param: "audio" | "audio.base64" | "audio.data"): PartReceiver {
    if (part.fileName !== null) {
      faults.add(param, `\`${param}\` accepts base64 text; send the audio itself as the file part \`file\`.`);
      return IGNORED;
    }
    if (intake.params.includes(param)) {
      faults.add(param, `\`${param}\` was sent more than once.`);
      return IGNORED;
    }
    // An empty field counts as not sent, so decoding starts with the first byte.
    let base64: ReturnType<typeof intake.beginBase64> | null = null;
    let characters = 0;
    return {
      data(bytes) {
        characters += bytes.length;
        if (characters > maxAudioBytes) throw audioTooLarge({ maxBytes: maxAudioBytes, param }, characters);
        base64 ??= intake.beginBase64(param, { lineBreaks: true });
        return base64.push(bytes);
      },
      end: () => base64?.end(),
    };
  }

  function onText(part: PartHeaders, name: string, isBracketed: boolean, type: z.core.$ZodType): PartReceiver {
    const isList = textKind(type) === "list";
    const maxBytes = isList ? MAX_LIST_BYTES : MAX_VALUE_BYTES;
    const collector = createByteCollector(isList ? maxBytes - listBytes : maxBytes);
    let fits = true;
    return {
      data(bytes) {
        fits &&= collector.add(bytes);
      },
      end() {
        const bytes = collector.bytes();
        if (isList) listBytes += bytes.length;
        const tooLong = isList ? "makes the lists of the form longer than" : "is longer than";
        if (!fits) return faults.add(name, `\`${name}\` ${tooLong} ${maxBytes} bytes.`);
        const value = { bytes, charset: part.charset };
        const field = texts.get(name);
        if (field === undefined) texts.set(name, { isBracketed, values: [value] });
        else if (field.isBracketed !== isBracketed) faults.add(name, `\`${name}\` was sent with and without [].`);
        else field.values.push(value);
        return undefined;
      },
    };
  }

  try {
    const reader = createMultipartReader(boundary, onPart);
    // The audio has its own limit. This one bounds everything around it.
    const bound = {
      maxBytes: maxAudioBytes + FORM_FRAMING_BYTES,
      tooLarge: (receivedBytes: number) => audioTooLarge({ maxBytes: maxAudioBytes, param: "file" }, receivedBytes),
    };
    await eachChunk(reading.body, bound, (chunk) => reader.write(chunk));
    reader.end();
  } catch (error) {
    if (error instanceof MultipartFault) throw faults.fatal(error.param, error.message);
    validatePartialForm(decodeFields(texts, charset, reading), reading);
    throw error;
  }
  const fields = parseFields(decodeFields(texts, charset, reading), reading);
  const file = files.end(fields.audio.has("url"));
  return { ...fields, fileName: file?.fileName ?? null, mediaType: file?.mediaType ?? null };
}

/** The decoded fields, without `_charset_`. */
function decodeFields(
  texts: ReadonlyMap<string, EncodedField>,
  bodyCharset: Charset | null,
  { faults }: BodyReading,
): ReadonlyMap<string, TextField> {
  const fields = new Map<string, TextField>();
  const fallback = defaultCharset(texts.get(CHARSET_FIELD), faults) ?? bodyCharset ?? "utf-8";
  for (const [name, { isBracketed, values }] of texts) {
    if (name === CHARSET_FIELD) continue;
    const decodedValues = values.map(({ bytes, charset }) => decodeText(bytes, charset ?? fallback));
    if (decodedValues.includes(null)) faults.add(name, `\`${name}\` is not valid UTF-8.`);
    else fields.set(name, { name, isBracketed, values: decodedValues.filter((value) => value !== null) });
  }
  return fields;
}

function defaultCharset(field: EncodedField | undefined, faults: Faults): Charset | null {
  const label = field?.values.at(-1)?.bytes.toString("latin1") ?? "";
  if (label === "") return null;
  const charset = charsetOf(label);
  if (charset === null) faults.add(CHARSET_FIELD, unsupportedCharset(label));
  return charset;
}

/** Validates a form that was not read to its end, without reporting missing fields, which may have followed. */
function validatePartialForm(texts: ReadonlyMap<string, TextField>, reading: BodyReading): void {
  const { fields, audio } = parseFields(texts, reading);
  validateFields(z.object(reading.schema.shape).partial(), fields, reading.faults);
  validateFields(audioFields, audio, reading.faults, "audio.");
}

function parseFields(
  texts: ReadonlyMap<string, TextField>,
  { schema, faults }: BodyReading,
): Pick<RawBody, "fields" | "audio"> {
  const fields = new Map<string, unknown>();
  const audio = new Map<string, unknown>();
  for (const [name, field] of texts) {
    const formFieldType = formField(schema, name);
    if (formFieldType === null) continue;
    const { owner, key, type } = formFieldType;
    if (isEmpty(field) && mayBeMissing(type)) continue;
    const value = valueOfText(field, textKind(type), faults);
    if (owner === "audio") audio.set(key, value);
    else if (owner === null) fields.set(key, value);
    else if (texts.has(owner)) faults.add(name, `\`${owner}\` was sent both as a whole and as members.`);
    else fields.set(owner, { ...asRecord(fields.get(owner)), [key]: value });
  }
  return { fields, audio };
}

function isEmpty({ values }: TextField): boolean {
  return values.every((value) => value === "");
}

function mayBeMissing(type: z.core.$ZodType): boolean {
  return (type as z.ZodType).def.type === "optional";
}
