// Gives files that root writes into another account's data directory to that account, because its gateway could not read them otherwise.
import { stat } from "node:fs/promises";
import { giveTree } from "../../storage/embedded/give-tree.ts";

/** Changes the owner of a path and everything below it to the owner of `directory`. Only root can; does nothing for other users. */
export async function giveToOwnerOf(directory: string, path: string): Promise<void> {
  if (process.getuid?.() !== 0) return;
  const { uid, gid } = await stat(directory);
  if (uid === 0) return;
  await giveTree(path, { uid, gid });
}
