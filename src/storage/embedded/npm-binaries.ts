// Completes npm's PostgreSQL binaries without their install script: creates symbolic links, which a package cannot contain, and sets execute bits.
import { chmod, cp, mkdir, readFile, rename, rm, symlink } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { errorCode } from "../../lib/error-code.ts";

/** An entry of the package's `pg-symlinks.json`. Paths are relative to the package. */
interface Link {
  readonly source: string;
  readonly target: string;
}

/** `native` is the package's directory of that name. Does nothing if all links exist. Throws if the directory is not writable. */
export async function completeNpmBinaries(native: string): Promise<void> {
  const links = JSON.parse(
    await readFile(join(native, "pg-symlinks.json"), "utf8").catch(() => "[]"),
  ) as readonly Link[];
  for (const { source, target } of links) {
    const path = join(native, target.replace(/^native\//u, ""));
    await symlink(basename(source), path).catch((error: unknown) => {
      if (errorCode(error) !== "EEXIST") throw error;
    });
  }
  for (const name of ["initdb", "postgres", "pg_ctl"]) {
    await chmod(join(native, "bin", name), 0o755).catch((error: unknown) => {
      if (errorCode(error) !== "ENOENT") throw error;
    });
  }
}

/** Returns the new `bin` directory. An interrupted copy leaves a temporary directory, which the next call replaces. */
export async function copyBinaries(bin: string, target: string): Promise<string> {
  const native = dirname(bin);
  const unfinished = `${target}.partial`;
  await rm(unfinished, { recursive: true, force: true });
  await mkdir(dirname(target), { recursive: true, mode: 0o711 });
  await cp(native, unfinished, { recursive: true, verbatimSymlinks: true });
  await completeNpmBinaries(unfinished);
  await rm(target, { recursive: true, force: true });
  await rename(unfinished, target);
  return join(target, "bin");
}
