// How this installation's command line is called: texts in the code use `patchbay …`, and the reader sees a command that works here.
import { existsSync } from "node:fs";
import { delimiter, join, relative } from "node:path";
import { IN_CHECKOUT, packageRoot } from "./package-root.ts";
import type { Terminal } from "./terminal.ts";

/** Name of the published npm package, which differs from its command. */
export const PACKAGE = "patchbay-gateway";

const CHECKOUT_COMMAND = "npm run patchbay --";

export function ownCommand({ env, cwd }: Pick<Terminal, "env" | "cwd">, isCheckout = IN_CHECKOUT): string {
  if (!isCheckout) return isOnPath(env["PATH"] ?? "") ? "patchbay" : `npx ${PACKAGE}`;
  const root = packageRoot();
  const isInside = !relative(root, cwd).startsWith("..");
  // npm looks for the script in the working directory and its parents.
  return isInside ? CHECKOUT_COMMAND : `node ${join(root, "bin", "patchbay.js")}`;
}

/** How the same installation is called after a `cd` to `directory`. npm would run its script in the checkout, where another configuration is found. */
export function commandAfterCd({ command = "patchbay" }: Pick<Terminal, "command">, directory: string): string {
  const root = packageRoot();
  return command === CHECKOUT_COMMAND && directory !== root ? `node ${join(root, "bin", "patchbay.js")}` : command;
}

/** Only directories of the caller's own PATH count: npm prepends `node_modules/.bin` for the command that it runs. */
function isOnPath(path: string): boolean {
  return path
    .split(delimiter)
    .some((directory) => directory !== "" && !/node_modules[\\/]\.bin$/u.test(directory) && hasCommand(directory));
}

function hasCommand(directory: string): boolean {
  return ["patchbay", "patchbay.cmd"].some((name) => existsSync(join(directory, name)));
}
