// Generates the uploaded recording: 16 kHz, mono, 16 bits, seeded noise, with its multipart body.
const SAMPLE_RATE = 16_000;
const HEADER_BYTES = 44;
const BOUNDARY = "patchbay-bench-7f3a9c51d2e84b06";

export const SEED = 20_261_120;

/** `fileBytes` includes the header. */
export function noiseWav(fileBytes: number, seed = SEED): Buffer {
  const file = Buffer.allocUnsafe(HEADER_BYTES + Math.floor((fileBytes - HEADER_BYTES) / 2) * 2);
  const dataBytes = file.length - HEADER_BYTES;
  file.write("RIFF", 0, "latin1");
  file.writeUInt32LE(file.length - 8, 4);
  file.write("WAVEfmt ", 8, "latin1");
  file.writeUInt32LE(16, 16);
  file.writeUInt16LE(1, 20);
  file.writeUInt16LE(1, 22);
  file.writeUInt32LE(SAMPLE_RATE, 24);
  file.writeUInt32LE(SAMPLE_RATE * 2, 28);
  file.writeUInt16LE(2, 32);
  file.writeUInt16LE(16, 34);
  file.write("data", 36, "latin1");
  file.writeUInt32LE(dataBytes, 40);
  let state = seed;
  for (let at = HEADER_BYTES; at < file.length; at += 2) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    file.writeInt16LE((state >>> 20) - 2_048, at);
  }
  return file;
}

export function formAround(file: Buffer): { readonly contentType: string; readonly body: Buffer } {
  const head = `--${BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="speech.wav"\r\nContent-Type: audio/wav\r\n\r\n`;
  return {
    contentType: `multipart/form-data; boundary=${BOUNDARY}`,
    body: Buffer.concat([Buffer.from(head), file, Buffer.from(`\r\n--${BOUNDARY}--\r\n`)]),
  };
}
