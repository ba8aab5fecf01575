// Packs the package from a copy of what Git knows of this checkout, as a clean clone would: modules of an earlier build, for example, are not in it.
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, readdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";

export interface PackParts {
  /** Of the checkout. Its node_modules has the compiler. */
  readonly root: string;
  readonly directory: string;
  readonly run: (command: string, args: readonly string[], cwd: string) => void;
}

/** Returns the path of the tarball. Changes that are not committed yet are in it. */
export function packCopy({ root, directory, run }: PackParts): string {
  const source = join(directory, "source");
  const listed = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
  for (const name of execFileSync("git", listed, { cwd: root, encoding: "utf8" }).split("\0"))
    if (name !== "" && existsSync(join(root, name))) cpSync(join(root, name), join(source, name), { force: true });
  symlinkSync(join(root, "node_modules"), join(source, "node_modules"));
  run("npm", ["pack", "--silent", "--pack-destination", directory], source);
  const tarball = readdirSync(directory).find((name) => name.endsWith(".tgz"));
  if (tarball === undefined) throw new Error("npm pack made no tarball");
  return join(directory, tarball);
}
