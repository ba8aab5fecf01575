// How much room a disk has for this process.
import { statfs } from "node:fs/promises";

/** On the disk of a place that exists. */
export async function freeBytes(place: string): Promise<number> {
  const { bavail, bsize } = await statfs(place);
  return bavail * bsize;
}
