// Streams a multipart/form-data body with text fields and one file, with constant memory and a known length.
import { randomUUID } from "node:crypto";
import type { WireBody } from "../io.ts";
import type { SpeechAudio } from "../provider.ts";

export function multipartBody(
  fields: readonly (readonly [string, string])[],
  audio: SpeechAudio,
): { readonly contentType: string; readonly body: WireBody } {
  const boundary = `patchbay-${randomUUID()}`;
  // Field and file names are constants that need no quoting. Values may contain anything but the boundary, which is random.
  const parts = fields.map(
    ([name, value]) => `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  );
  const file = `Content-Disposition: form-data; name="file"; filename="${audio.fileName}"\r\nContent-Type: ${audio.mediaType}`;
  const head = Buffer.from(`${parts.join("")}--${boundary}\r\n${file}\r\n\r\n`);
  const tail = Buffer.from(`\r\n--${boundary}--\r\n`);
  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    body: {
      sizeBytes: head.byteLength + audio.sizeBytes + tail.byteLength,
      open: async function* (mode) {
        yield head;
        yield* audio.open(mode);
        yield tail;
      },
    },
  };
}
