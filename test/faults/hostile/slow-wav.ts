// A long recording in few bytes: the allowed size of a reply depends on the duration.
import { noiseWav } from "../../../bench/upstream/wav.ts";

/** A thousand samples of eight bits per second: an hour is 3.6 MB. */
export function slowWav(seconds: number): Buffer {
  const rate = 1_000;
  const file = Buffer.alloc(44 + seconds * rate, 0x80);
  noiseWav(44).copy(file);
  file.writeUInt32LE(file.length - 8, 4);
  file.writeUInt32LE(rate, 24);
  file.writeUInt32LE(rate, 28);
  file.writeUInt16LE(1, 32);
  file.writeUInt16LE(8, 34);
  file.writeUInt32LE(seconds * rate, 40);
  return file;
}
