// Rewrites commands in texts: the code says `patchbay …`, the reader sees the command to type here.
import { COMMAND_NAMES } from "./command-names.ts";

const NAMES = COMMAND_NAMES.join("|");
const SHOWN = new RegExp(`(?<![\\w./@-])patchbay (${NAMES}|--help)\\b( (?=--[a-z]))?`, "gu");

/** Replaces every `patchbay` command in the text by `command`. In a checkout a gateway is started by `npm start`, which sets the runtime's flags. */
export function showCommands(text: string, command: string): string {
  if (command === "patchbay") return text;
  return text.replaceAll(SHOWN, (_, name: string, space: string | undefined = "") => {
    if (name !== "up" || !command.startsWith("npm run")) return `${command} ${name}${space}`;
    return space === "" ? "npm start" : "npm start -- ";
  });
}
