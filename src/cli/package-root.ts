// Finds the directory of the installed package from this file (two levels up in a checkout, three in a build), and reads from it the version, the required
// Node.js, the sample recording and the pages' modules.
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

/** Path of the bundled sample recording. */
export function samplePath(): string {
  return join(packageRoot(), "sandbox", "samples", "dialogue.mp3");
}

/** A checkout runs the sources, a package the built modules. */
export const IN_CHECKOUT = import.meta.filename.endsWith(".ts");

/** Directory of this package's modules, and whether they are built. */
export function pageModules(): { readonly modules: string; readonly areBuilt: boolean } {
  return { modules: dirname(import.meta.dirname), areBuilt: !IN_CHECKOUT };
}

/** The same for the modules of `web/`, and the directory of their styles, which are not built. */
export function webModules(): { readonly modules: string; readonly styles: string; readonly areBuilt: boolean } {
  const styles = join(packageRoot(), "web");
  return { modules: IN_CHECKOUT ? styles : join(packageRoot(), "dist", "web"), styles, areBuilt: !IN_CHECKOUT };
}

export function packageVersion(): string {
  return manifest().version;
}

/** The oldest supported Node.js version, as `major.minor`. */
export function neededNode(): string {
  return manifest().engines.node.slice(">=".length);
}

interface Manifest {
  readonly version: string;
  readonly engines: { readonly node: `>=${number}.${number}` };
}

/** Not validated, because it is this package's own: a schema library would delay `--version`. */
function manifest(): Manifest {
  return JSON.parse(readFileSync(join(packageRoot(), "package.json"), "utf8")) as Manifest;
}
