// The multipart body of an upload, streamed from disk with its length declared, so that a gateway can refuse it by the head.
import { randomUUID } from "node:crypto";
import { open } from "node:fs/promises";
import { formAround } from "../client/multipart.ts";

export interface Upload {
  readonly contentType: string;
  readonly sizeBytes: number;
  readonly body: ReadableStream<Uint8Array>;
}

export interface UploadSource {
  readonly path: string;
  readonly sizeBytes: number;
  readonly fileName: string;
  readonly mediaType: string;
}

const CHUNK_BYTES = 65_536;

/** `onProgress` gets the audio's bytes handed to the connection so far. */
export function multipartUpload(
  source: UploadSource,
  fields: Readonly<Record<string, unknown>>,
  onProgress: (sentBytes: number) => void,
): Upload {
  const form = formAround(fields, { name: source.fileName, mediaType: source.mediaType }, randomUUID());
  const head = new TextEncoder().encode(form.head);
  const tail = new TextEncoder().encode(form.tail);
  return {
    contentType: form.contentType,
    sizeBytes: head.length + source.sizeBytes + tail.length,
    body: ReadableStream.from(chunks(source, head, tail, onProgress)),
  };
}

async function* chunks(
  source: UploadSource,
  head: Uint8Array,
  tail: Uint8Array,
  onProgress: (sentBytes: number) => void,
): AsyncGenerator<Uint8Array> {
  yield head;
  await using file = await open(source.path, "r");
  let sent = 0;
  while (sent < source.sizeBytes) {
    const { bytesRead, buffer } = await file.read(
      new Uint8Array(Math.min(CHUNK_BYTES, source.sizeBytes - sent)),
      0,
      undefined,
      sent,
    );
    // The length is declared already: a file that shrinks meanwhile cannot be completed.
    if (bytesRead === 0) throw new Error(`${source.path} became shorter while it was being sent`);
    yield buffer.subarray(0, bytesRead);
    sent += bytesRead;
    onProgress(sent);
  }
  yield tail;
}
