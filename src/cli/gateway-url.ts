// Finds the gateway that a command calls: by flag, environment, configuration, else the address that this installation's gateway wrote into its data directory
// [cli.gateway-address].
import { type Listener, installationHere, listenerOf } from "../config/installation-here.ts";
import { EXIT } from "./exit-codes.ts";
import { CliError, type Terminal } from "./terminal.ts";

export const DEFAULT_URL = "http://127.0.0.1:8080";
export const DEFAULT_ADMIN_URL = "http://127.0.0.1:8081";

type Here = Pick<Terminal, "env" | "cwd">;

export function gatewayUrl(option: string | undefined, here: Here): URL {
  return parseUrl(option ?? readEnv(here, "PATCHBAY_URL") ?? find("url", here) ?? DEFAULT_URL);
}

/** Address of the admin listener. */
export function adminUrl(option: string | undefined, here: Here): string {
  const found = option ?? readEnv(here, "PATCHBAY_ADMIN_URL") ?? find("adminUrl", here) ?? DEFAULT_ADMIN_URL;
  return parseUrl(found).href.replace(/\/$/u, "");
}

/** Keeps the path prefix under which the gateway is mounted. */
export function endpointUrl(gateway: URL, path: string): string {
  return `${gateway.href.replace(/\/+$/, "")}${path}`;
}

function readEnv({ env }: Here, name: string): string | undefined {
  const value = env[name];
  return value === "" ? undefined : value;
}

function find(listener: Listener, { env, cwd }: Here): string | null {
  return listenerOf(listener, installationHere({ file: null, env, cwd }));
}

function parseUrl(source: string): URL {
  const url = URL.canParse(source) ? new URL(source) : null;
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== "")
    throw new CliError(
      EXIT.usage,
      "The gateway's URL must start with http:// or https:// and contain no credentials.",
      {
        hints: ["see --url and PATCHBAY_URL, --admin-url and PATCHBAY_ADMIN_URL"],
      },
    );
  return url;
}
