// The multipart carrier of a submission: the file part or a base64 field to the spool, every other field as text.
import { z } from "zod";
import { audioTooLarge } from "../audio/spool.ts";
import { audioFields } from "../contract/transcription.ts";
import { recordOf } from "../lib/loosely.ts";
import { utf8Text } from "../lib/utf8.ts";
import { eachChunk } from "./body-chunks.ts";
import { createByteCollector } from "./byte-collector.ts";
import { notAField, type TextField, textKind, validateFields, valueOfText } from "./fields.ts";
import { formField } from "./form-field.ts";
import { createFormFiles } from "./form-files.ts";
import { createMultipartReader, IGNORED, MultipartFault, type PartReceiver } from "./multipart.ts";
import type { PartHeaders } from "./part-headers.ts";
import { type BodyReading, FORM_FRAMING_BYTES, MAX_REST_BYTES, type RawBody } from "./raw-body.ts";

const MAX_VALUE_BYTES = 65_536;
/** Of all lists together: a thousand terms of a hundred characters are longer than any other value. */
const MAX_LIST_BYTES = MAX_REST_BYTES;

export async function readFormBody(reading: BodyReading, boundary: string): Promise<RawBody> {
  const { faults, intake, maxAudioBytes, schema } = reading;
  const texts = new Map<string, TextField>();
  const files = createFormFiles(intake, faults);
  let listBytes = 0;

  function onPart(part: PartHeaders): PartReceiver {
    if (faults.noteRouteControl(part.name)) return IGNORED;
    if (part.name === "file") return files.take(part);
    if (part.name === "audio" || part.name === "audio.base64" || part.name === "audio.data")
      return onBase64(part, part.name);
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
    return onText(name, isBracketed, field.type);
  }

  function onBase64(part: PartHeaders, param: "audio" | "audio.base64" | "audio.data"): PartReceiver {
    if (part.fileName !== null) {
      faults.add(param, `\`${param}\` takes base64 text; send the audio itself as the file part \`file\`.`);
      return IGNORED;
    }
    if (intake.params.includes(param)) {
      faults.add(param, `\`${param}\` was sent more than once.`);
      return IGNORED;
    }
    const base64 = intake.beginBase64(param, { lineBreaks: true });
    let characters = 0;
    return {
      data(bytes) {
        characters += bytes.length;
        if (characters > maxAudioBytes) throw audioTooLarge({ maxBytes: maxAudioBytes, param }, characters);
        return base64.push(bytes);
      },
      end: () => base64.end(),
    };
  }

  function onText(name: string, isBracketed: boolean, type: z.core.$ZodType): PartReceiver {
    const isList = textKind(type) === "list";
    const maxBytes = isList ? MAX_LIST_BYTES : MAX_VALUE_BYTES;
    const value = createByteCollector(isList ? maxBytes - listBytes : maxBytes);
    let fits = true;
    return {
      data(bytes) {
        fits &&= value.add(bytes);
      },
      end() {
        const bytes = value.bytes();
        if (isList) listBytes += bytes.length;
        const tooLong = isList ? "makes the lists of the form longer than" : "is longer than";
        if (!fits) return faults.add(name, `\`${name}\` ${tooLong} ${maxBytes} bytes.`);
        const text = utf8Text(bytes);
        if (text === null) return faults.add(name, `\`${name}\` is not valid UTF-8.`);
        const field = texts.get(name);
        if (field === undefined) texts.set(name, { name, isBracketed, values: [text] });
        else if (field.isBracketed !== isBracketed) faults.add(name, `\`${name}\` was sent with and without [].`);
        else field.values.push(text);
        return undefined;
      },
    };
  }

  try {
    const reader = createMultipartReader(boundary, onPart);
    // The audio is counted where it is taken; this bounds everything around it.
    const bound = {
      maxBytes: maxAudioBytes + FORM_FRAMING_BYTES,
      tooLarge: (receivedBytes: number) => audioTooLarge({ maxBytes: maxAudioBytes, param: "file" }, receivedBytes),
    };
    await eachChunk(reading.body, bound, (chunk) => reader.write(chunk));
    reader.end();
  } catch (error) {
    if (error instanceof MultipartFault) throw faults.fatal(error.param, error.message);
    judgeSoFar(texts, reading);
    throw error;
  }
  const file = files.end(texts.has("audio.url"));
  return { ...typed(texts, reading), fileName: file?.fileName ?? null, mediaType: file?.mediaType ?? null };
}

/** Of a form that was not read to its end: what it lacks may have been on its way. */
function judgeSoFar(texts: ReadonlyMap<string, TextField>, reading: BodyReading): void {
  const { fields, audio } = typed(texts, reading);
  validateFields(z.object(reading.schema.shape).partial(), fields, reading.faults);
  validateFields(audioFields, audio, reading.faults, "audio.");
}

function typed(
  texts: ReadonlyMap<string, TextField>,
  { schema, faults, emptyIsUnsent }: BodyReading,
): Pick<RawBody, "fields" | "audio"> {
  const fields = new Map<string, unknown>();
  const audio = new Map<string, unknown>();
  for (const [name, field] of texts) {
    const meant = formField(schema, name);
    if (meant === null) continue;
    const { owner, key, type } = meant;
    if (emptyIsUnsent && isEmpty(field) && mayBeMissing(type)) continue;
    const value = valueOfText(field, textKind(type), faults);
    if (owner === "audio") audio.set(key, value);
    else if (owner === null) fields.set(key, value);
    else if (texts.has(owner)) faults.add(name, `\`${owner}\` was sent whole and in members.`);
    else fields.set(owner, { ...recordOf(fields.get(owner)), [key]: value });
  }
  return { fields, audio };
}

function isEmpty({ values }: TextField): boolean {
  return values.every((value) => value === "");
}

function mayBeMissing(type: z.core.$ZodType): boolean {
  return (type as z.ZodType).def.type === "optional";
}
