// A directory and what is missing above it. Not `mkdir` with `recursive`: where a file system takes no directories and answers ENOENT, as /proc
// does, Node.js makes the one above again and again, and never ends (24.21).
import { mkdir, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { errorCode } from "./error-code.ts";

/** Readable by their owner only. Answers the topmost directory that had to be made; null: all were there. */
export async function makeDirectory(path: string): Promise<string | null> {
  try {
    return await makeOne(path);
  } catch (error) {
    if (errorCode(error) !== "ENOENT" || dirname(path) === path) throw error;
  }
  const above = await makeDirectory(dirname(path));
  const made = await makeOne(path);
  return above ?? made;
}

async function makeOne(path: string): Promise<string | null> {
  try {
    await mkdir(path, { mode: 0o700 });
    return path;
  } catch (error) {
    if (await isDirectory(path)) return null;
    throw error;
  }
}

async function isDirectory(path: string): Promise<boolean> {
  return stat(path).then(
    (facts) => facts.isDirectory(),
    () => false,
  );
}
