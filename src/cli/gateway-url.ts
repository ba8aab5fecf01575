// Which gateway a command talks to: `--url`, PATCHBAY_URL, else the one on this machine.
import { EXIT } from "./exit-codes.ts";
import { CliError, type Terminal } from "./terminal.ts";

export const DEFAULT_URL = "http://127.0.0.1:8080";
export const DEFAULT_ADMIN_URL = "http://127.0.0.1:8081";

export function gatewayUrl(option: string | undefined, terminal: Pick<Terminal, "env">): URL {
  const text = option ?? terminal.env["PATCHBAY_URL"];
  const source = text === undefined || text === "" ? DEFAULT_URL : text;
  const url = URL.canParse(source) ? new URL(source) : null;
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== "")
    throw new CliError(EXIT.usage, "The gateway's URL must begin with http:// or https:// and hold no credentials.", {
      hints: ["see --url and PATCHBAY_URL"],
    });
  return url;
}

/** What a command needs to find a gateway at this address; nothing where it looks by itself. */
export function urlFlag(address: string): string {
  return address === DEFAULT_URL ? "" : ` --url ${address}`;
}

/** Whatever path the gateway itself is mounted at stays before it. */
export function endpointUrl(gateway: URL, path: string): string {
  return `${gateway.href.replace(/\/+$/, "")}${path}`;
}
