// Gives a directory tree to an account, as root. Links are changed themselves and never followed: a process that can place one in the tree
// could otherwise have root give any file of the machine away.
import { lchown, readdir } from "node:fs/promises";
import { join } from "node:path";

export interface Owner {
  readonly uid: number;
  readonly gid: number;
}

/** `path` may also be a single file. */
export async function giveTree(path: string, { uid, gid }: Owner): Promise<void> {
  await lchown(path, uid, gid);
  const names = await readdir(path, { recursive: true }).catch(() => []);
  for (const name of names) await lchown(join(path, name), uid, gid);
}
