// What tests create once on a machine and then copy, because creating it takes seconds: in a folder that any account may pass through.
import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { chmod, mkdir, rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Resolves with the path of that name, which `create` makes if it is missing. The name has to change with everything that determines its content. */
export async function cached(name: string, create: (path: string) => Promise<void>): Promise<string> {
  const folder = await cacheFolder();
  const target = join(folder, name);
  if (existsSync(target)) return target;
  // Several processes may create it at the same time: each creates its own, and one of them gets the name.
  const aside = `${target}.${randomBytes(6).toString("hex")}`;
  try {
    await create(aside);
    await rename(aside, target);
  } catch (error) {
    if (!existsSync(target)) throw error;
  } finally {
    await rm(aside, { recursive: true, force: true });
  }
  return target;
}

async function cacheFolder(): Promise<string> {
  const folder = join(tmpdir(), `patchbay-test-${process.getuid?.() ?? 0}`);
  await mkdir(folder, { recursive: true });
  await chmod(folder, 0o711);
  return folder;
}
