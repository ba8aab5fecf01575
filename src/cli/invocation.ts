// How this installation's command line is called: our texts say `patchbay …`, and a reader types what works where the text is shown.
import { existsSync } from "node:fs";
import { delimiter, join, relative } from "node:path";
import { IN_CHECKOUT, packageRoot } from "./package-root.ts";
import type { Terminal } from "./terminal.ts";

/** Of the published package: its name on npm is not that of its command. */
export const PACKAGE = "patchbay-gateway";

export function ownCommand({ env, cwd }: Pick<Terminal, "env" | "cwd">, isCheckout = IN_CHECKOUT): string {
  if (!isCheckout) return isOnPath(env["PATH"] ?? "") ? "patchbay" : `npx ${PACKAGE}`;
  const root = packageRoot();
  const isInside = !relative(root, cwd).startsWith("..");
  // npm looks for the script in the directory that it is called in, and above.
  return isInside ? "npm run patchbay --" : `node ${join(root, "bin", "patchbay.js")}`;
}

/** By a directory of the caller's own shell: npm puts `node_modules/.bin` before it for the command that it runs. */
function isOnPath(path: string): boolean {
  return path
    .split(delimiter)
    .some((directory) => directory !== "" && !/node_modules[\\/]\.bin$/u.test(directory) && hasCommand(directory));
}

function hasCommand(directory: string): boolean {
  return ["patchbay", "patchbay.cmd"].some((name) => existsSync(join(directory, name)));
}
