// Our texts say `patchbay …`; where they are shown, commands are written as the reader has to type them.
import { COMMAND_NAMES } from "./command-names.ts";

const NAMES = COMMAND_NAMES.join("|");
const SHOWN = new RegExp(`(?<![\\w./@-])patchbay (${NAMES})\\b( (?=--[a-z]))?`, "gu");

/** The text with every command of ours as `command` calls it. In a checkout a gateway is started by `npm start`, with its runtime's flags. */
export function showCommands(text: string, command: string): string {
  if (command === "patchbay") return text;
  return text.replaceAll(SHOWN, (_, name: string, space: string | undefined = "") => {
    if (name !== "up" || !command.startsWith("npm run")) return `${command} ${name}${space}`;
    return space === "" ? "npm start" : "npm start -- ";
  });
}
