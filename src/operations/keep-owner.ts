// What root writes into another account's data directory belongs to that account: its gateway could not read it otherwise.
import { lchown, readdir, stat } from "node:fs/promises";
import { join } from "node:path";

/** A path and all below it gets the owner of `directory`. Does nothing for a user other than root. */
export async function giveToOwnerOf(directory: string, path: string): Promise<void> {
  if (process.getuid?.() !== 0) return;
  const { uid, gid } = await stat(directory);
  if (uid === 0) return;
  await lchown(path, uid, gid);
  const below = await readdir(path, { recursive: true }).catch(() => []);
  for (const name of below) await lchown(join(path, name), uid, gid);
}
