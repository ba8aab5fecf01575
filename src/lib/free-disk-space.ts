// Reads the free disk space that this process may use.
import { statfs } from "node:fs/promises";

/** `path` must exist. */
export async function freeBytes(place: string): Promise<number> {
  const { bavail, bsize } = await statfs(place);
  return bavail * bsize;
}
