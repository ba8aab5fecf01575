// Gives files that root writes into another account's data directory to that account, whose gateway could not read them otherwise.
import { lchown, readdir, stat } from "node:fs/promises";
import { join } from "node:path";

/** Changes the owner of a path and everything below it to the owner of `directory`. Only root can; does nothing for other users. */
export async function giveToOwnerOf(directory: string, path: string): Promise<void> {
  if (process.getuid?.() !== 0) return;
  const { uid, gid } = await stat(directory);
  if (uid === 0) return;
  await lchown(path, uid, gid);
  const children = await readdir(path, { recursive: true }).catch(() => []);
  for (const name of children) await lchown(join(path, name), uid, gid);
}
