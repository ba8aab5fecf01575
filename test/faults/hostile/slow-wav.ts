// A long recording in few bytes, whose provider may say as much of it as of any other of its length.
import { noiseWav } from "../../../bench/wav.ts";

/** A thousand samples a second of eight bits: an hour is 3.6 MB. */
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
