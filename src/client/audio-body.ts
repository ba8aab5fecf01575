// Builds the body of a request with audio [client.audio-sources]: a multipart form around the bytes, or JSON with a URL.
import type { AudioFields } from "../contract/transcription/transcription-fields.ts";
import type { RequestBody } from "./call.ts";
import { formAround } from "./multipart.ts";
import { uniqueText } from "./unique-text.ts";

/**
 * A browser file or any other `Blob`, bytes, a stream of bytes (cannot be resent, so it is never retried), a file by its `path` where a file system exists, or
 * `{ url }` for the gateway to fetch.
 */
export type AudioSource =
  | Blob
  | ArrayBuffer
  | Uint8Array
  | ReadableStream<Uint8Array>
  | { readonly path: string }
  | Readonly<AudioFields>;

export async function audioBody(source: AudioSource, fields: Readonly<Record<string, unknown>>): Promise<RequestBody> {
  if (isStream(source)) return streamed(source, fields);
  if (source instanceof Blob) return formOf(source, nameOf(source), fields);
  if (source instanceof ArrayBuffer || ArrayBuffer.isView(source)) return formOf(new Blob([source]), "audio", fields);
  if ("path" in source) return formOf(await openFile(source.path), source.path.replace(/^.*[/\\]/, ""), fields);
  return { contentType: "application/json", body: JSON.stringify({ ...fields, audio: source }) };
}

function isStream(source: AudioSource): source is ReadableStream<Uint8Array> {
  return "getReader" in source;
}

/** The gateway detects the format from the content; an unknown type is better omitted. */
const UNKNOWN_TYPE = "application/octet-stream";

/** One blob instead of `FormData`: if a gateway refuses a form before it has received all of it, Node.js 24 ends the process. */
async function formOf(audio: Blob, name: string, fields: Readonly<Record<string, unknown>>): Promise<RequestBody> {
  const file = { name, mediaType: audio.type === "" ? UNKNOWN_TYPE : audio.type };
  const { contentType, head, tail } = formAround(fields, file, uniqueText());
  const body = new Blob([head, audio, tail]);
  // Bun loses a file that is part of a blob, but not bytes already read from it.
  const isWhole = body.size === new Blob([head, tail]).size + audio.size;
  return { contentType, body: isWhole ? body : new Blob([head, await audio.arrayBuffer(), tail]) };
}

function streamed(audio: ReadableStream<Uint8Array>, fields: Readonly<Record<string, unknown>>): RequestBody {
  const file = { name: "audio", mediaType: UNKNOWN_TYPE };
  const { contentType, head, tail } = formAround(fields, file, uniqueText());
  const encoder = new TextEncoder();
  const framed = new TransformStream<Uint8Array, Uint8Array>({
    start: (controller) => controller.enqueue(encoder.encode(head)),
    flush: (controller) => controller.enqueue(encoder.encode(tail)),
  });
  return { contentType, body: audio.pipeThrough(framed) };
}

function nameOf(audio: Blob): string {
  return "name" in audio && typeof audio.name === "string" && audio.name !== "" ? audio.name : "audio";
}

/** Read while it is sent. The module is looked up at run time instead of imported: browsers do not have it, and bundles must not need it. */
async function openFile(path: string): Promise<Blob> {
  const { process } = globalThis as { readonly process?: Partial<Pick<NodeJS.Process, "getBuiltinModule">> };
  const files = process?.getBuiltinModule?.("node:fs");
  if (files === undefined)
    throw new TypeError("Files are opened by Node.js 20.16 and later, Bun and Deno: give a Blob.");
  try {
    return await files.openAsBlob(path);
  } catch (cause) {
    throw new TypeError(`No readable file at ${path}.`, { cause });
  }
}
