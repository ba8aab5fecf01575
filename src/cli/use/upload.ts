// Builds the multipart body of an upload, streamed from disk with a declared length, so that a gateway can refuse it before the body is sent.
import { randomUUID } from "node:crypto";
import { open } from "node:fs/promises";
import { formAround } from "../../client/multipart.ts";

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

/** `onProgress` receives the number of audio bytes sent so far. */
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
  let offset = 0;
  while (offset < source.sizeBytes) {
    const { bytesRead, buffer } = await file.read(
      new Uint8Array(Math.min(CHUNK_BYTES, source.sizeBytes - offset)),
      0,
      undefined,
      offset,
    );
    // The length is already declared: a file that shrinks meanwhile cannot be completed.
    if (bytesRead === 0) throw new Error(`${source.path} became shorter while it was being sent`);
    yield buffer.subarray(0, bytesRead);
    offset += bytesRead;
    onProgress(offset);
  }
  yield tail;
}
