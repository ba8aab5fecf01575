// Creates a directory and its missing parents. Not `mkdir` with `recursive`: on a file system that refuses directories with ENOENT, such as /proc, it
// never returns (Node.js 24.21).
import { mkdir, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { errorCode } from "./error-code.ts";

/** Mode 0700. Returns the topmost directory that was created, or null if all existed. */
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
