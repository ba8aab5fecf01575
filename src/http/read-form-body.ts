// The multipart carrier of a submission: the file part or a base64 field to the spool, every other field as text.
import { audioTooLarge } from "../audio/spool.ts";
import { audioFields } from "../contract/transcription.ts";
import { eachChunk } from "./body-chunks.ts";
import { createByteCollector } from "./byte-collector.ts";
import { type TextField, textKind, valueOfText } from "./fields.ts";
import { createMultipartReader, MultipartFault, type PartReceiver } from "./multipart.ts";
import type { PartHeaders } from "./part-headers.ts";
import { type BodyReading, FORM_FRAMING_BYTES, type RawBody } from "./raw-body.ts";

const MAX_VALUE_BYTES = 65_536;
const IGNORED: PartReceiver = { data: () => undefined, end: () => undefined };

export async function readFormBody(reading: BodyReading, boundary: string): Promise<RawBody> {
  const { faults, intake, maxAudioBytes, schema } = reading;
  const texts = new Map<string, TextField>();
  let file: PartHeaders | null = null;

  function onPart(part: PartHeaders): PartReceiver {
    if (faults.isRouteControl(part.name)) return IGNORED;
    if (part.name === "file") return onFile(part);
    if (part.name === "audio" || part.name === "audio.base64" || part.name === "audio.data")
      return onBase64(part, part.name);
    const isBracketed = part.name.endsWith("[]");
    const name = isBracketed ? part.name.slice(0, -2) : part.name;
    if (!isKnown(name)) {
      faults.add(part.name, `\`${part.name}\` is not a field of this endpoint.`);
      return IGNORED;
    }
    if (part.fileName !== null) {
      faults.add(name, `\`${name}\` must be a plain field, without a file name.`);
      return IGNORED;
    }
    return onText(name, isBracketed);
  }

  function isKnown(name: string): boolean {
    return name.startsWith("audio.")
      ? Object.hasOwn(audioFields.shape, name.slice(6))
      : Object.hasOwn(schema.shape, name);
  }

  function onFile(part: PartHeaders): PartReceiver {
    if (part.fileName === null) {
      faults.add("file", "`file` must be a file part with a file name, not a plain field.");
      return IGNORED;
    }
    if (file !== null) {
      faults.add("file", "`file` was sent more than once.");
      return IGNORED;
    }
    file = part;
    return { data: intake.beginBytes("file"), end: () => undefined };
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

  function onText(name: string, isBracketed: boolean): PartReceiver {
    const value = createByteCollector(MAX_VALUE_BYTES);
    let fits = true;
    return {
      data(bytes) {
        fits &&= value.add(bytes);
      },
      end() {
        if (!fits) return faults.add(name, `\`${name}\` is longer than ${MAX_VALUE_BYTES} bytes.`);
        const text = decodeText(value.bytes());
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
    const bound = createBound(maxAudioBytes);
    await eachChunk(reading.body, (chunk) => {
      bound(chunk.length);
      return reader.write(chunk);
    });
    reader.end();
  } catch (error) {
    if (error instanceof MultipartFault) throw faults.fatal(error.param, error.message);
    throw error;
  }
  const fields = new Map<string, unknown>();
  const audio = new Map<string, unknown>();
  for (const [name, field] of texts) {
    const member = name.startsWith("audio.") ? name.slice(6) : null;
    const type = member === null ? schema.shape[name] : audioFields.shape[member as keyof typeof audioFields.shape];
    if (type === undefined) continue;
    (member === null ? fields : audio).set(member ?? name, valueOfText(field, textKind(type), faults));
  }
  const sent: PartHeaders | null = file;
  return { fields, audio, fileName: fileNameOf(sent), mediaType: mediaTypeOf(sent) };
}

function fileNameOf(part: PartHeaders | null): string | null {
  return part?.fileName ?? null;
}

function mediaTypeOf(part: PartHeaders | null): string | null {
  return part?.mediaType ?? null;
}

/** The audio is counted where it is taken; this bounds everything around it. */
function createBound(maxAudioBytes: number): (bytes: number) => void {
  let sizeBytes = 0;
  return (bytes) => {
    sizeBytes += bytes;
    if (sizeBytes > maxAudioBytes + FORM_FRAMING_BYTES)
      throw audioTooLarge({ maxBytes: maxAudioBytes, param: "file" }, sizeBytes);
  };
}

function decodeText(bytes: Buffer): string | null {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}
