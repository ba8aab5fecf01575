// The directory of the installed package, found from this file: two levels up in a checkout, three in a build.
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

export function packageRoot(): string {
  let directory = import.meta.dirname;
  while (!existsSync(join(directory, "package.json"))) {
    const parent = dirname(directory);
    if (parent === directory) throw new Error("package.json is missing from the installation");
    directory = parent;
  }
  return directory;
}

/** The recording that comes with the package. */
export function samplePath(): string {
  return join(packageRoot(), "sandbox", "samples", "dialogue.mp3");
}

/** A checkout runs its modules as they were written, a package those that were built. */
export const IN_CHECKOUT = import.meta.filename.endsWith(".ts");

/** Where the folders of this package's modules lie, and whether they were built. */
export function pageModules(): { readonly modules: string; readonly areBuilt: boolean } {
  return { modules: dirname(import.meta.dirname), areBuilt: !IN_CHECKOUT };
}

export function packageVersion(): string {
  return manifest().version;
}

/** The oldest runtime that this version runs on, as `major.minor`. */
export function neededNode(): string {
  return manifest().engines.node.slice(">=".length);
}

interface Manifest {
  readonly version: string;
  readonly engines: { readonly node: `>=${number}.${number}` };
}

/** This package's own, and no input: a schema library would be loaded for it before `--version` is answered. */
function manifest(): Manifest {
  return JSON.parse(readFileSync(join(packageRoot(), "package.json"), "utf8")) as Manifest;
}
