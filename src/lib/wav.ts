// The header of the WAV files that the gateway writes, of 16-bit samples. It counts against a target's size limit.
export const WAV_HEADER_BYTES = 44;
const BYTES_PER_SAMPLE = 2;

export function wavHeader(sampleRate: number, channels: number, bodyBytes: number): Uint8Array {
  const header = Buffer.alloc(WAV_HEADER_BYTES);
  const frameBytes = channels * BYTES_PER_SAMPLE;
  header.write("RIFF", 0, "latin1");
  header.writeUInt32LE(WAV_HEADER_BYTES - 8 + bodyBytes, 4);
  header.write("WAVEfmt ", 8, "latin1");
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(channels, 22);
  header.writeUInt32LE(sampleRate, 24);
  header.writeUInt32LE(sampleRate * frameBytes, 28);
  header.writeUInt16LE(frameBytes, 32);
  header.writeUInt16LE(BYTES_PER_SAMPLE * 8, 34);
  header.write("data", 36, "latin1");
  header.writeUInt32LE(bodyBytes, 40);
  return header;
}
