// Silence as a WAV file: one byte per sample at 8 kHz, so that even half an hour stays small.

const RATE = 8000;
const HEADER_BYTES = 44;

export function wav(durationSeconds: number, channels = 1): Buffer<ArrayBuffer> {
  const dataBytes = Math.round(durationSeconds * RATE) * channels;
  const file = Buffer.alloc(HEADER_BYTES + dataBytes, 128);
  file.write("RIFF", 0);
  file.writeUInt32LE(HEADER_BYTES - 8 + dataBytes, 4);
  file.write("WAVEfmt ", 8);
  file.writeUInt32LE(16, 16);
  file.writeUInt16LE(1, 20);
  file.writeUInt16LE(channels, 22);
  file.writeUInt32LE(RATE, 24);
  file.writeUInt32LE(RATE * channels, 28);
  file.writeUInt16LE(channels, 32);
  file.writeUInt16LE(8, 34);
  file.write("data", 36);
  file.writeUInt32LE(dataBytes, 40);
  return file;
}
