// The multipart body of an upload, streamed from disk with its length declared, so that a gateway can refuse it by the head.
import { randomUUID } from "node:crypto";
import { open } from "node:fs/promises";

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

/** Lists and objects go as JSON, for a form has few parts and a term may begin with a bracket; the rest as text. `onProgress` gets the audio's bytes handed to the connection so far. */
export function multipartUpload(
  source: UploadSource,
  fields: Readonly<Record<string, unknown>>,
  onProgress: (sentBytes: number) => void,
): Upload {
  const boundary = `patchbay-${randomUUID()}`;
  const parts = Object.entries(fields).map(([name, value]) =>
    part(boundary, `name="${name}"`, typeof value === "string" ? value : JSON.stringify(value)),
  );
  const file = `--${boundary}\r\ncontent-disposition: form-data; name="file"; filename="${quoted(source.fileName)}"\r\ncontent-type: ${source.mediaType}\r\n\r\n`;
  const head = new TextEncoder().encode(parts.join("") + file);
  const tail = new TextEncoder().encode(`\r\n--${boundary}--\r\n`);
  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
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

function part(boundary: string, disposition: string, text: string): string {
  return `--${boundary}\r\ncontent-disposition: form-data; ${disposition}\r\n\r\n${text}\r\n`;
}

/** As browsers write names into a disposition. */
function quoted(name: string): string {
  return name.replaceAll('"', "%22").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
}
