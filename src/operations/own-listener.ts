// Where the gateway of a configuration listens: as its configuration says, and where that names no place as it wrote into its data directory.
import type { Configuration } from "../config/configuration.ts";
import { installationHere, listenerOf } from "../config/installation-here.ts";
import { reachableHost } from "../config/reachable-host.ts";
import { readRunningGateway } from "../config/running-gateway.ts";
import type { Terminal } from "../cli/terminal.ts";

export function ownPublicUrl(
  { server }: Configuration,
  options: { readonly config?: string },
  terminal: Terminal,
): string {
  return find("url", options, terminal) ?? `http://${reachableHost(server.host)}:${server.port}`;
}

/** Null: it has no admin listener. */
export function ownAdminUrl(
  { server, storage }: Configuration,
  options: { readonly config?: string },
  terminal: Terminal,
): string | null {
  const found = find("adminUrl", options, terminal);
  // The command line may have given one to a configuration that has none.
  const configured = server.admin ?? readRunningGateway(storage.dataDir)?.adminUrl ?? null;
  if (configured === null) return null;
  if (found !== null) return found;
  return typeof configured === "string" ? configured : `http://${reachableHost(configured.host)}:${configured.port}`;
}

function find(listener: "url" | "adminUrl", { config }: { readonly config?: string }, { env, cwd }: Terminal) {
  return listenerOf(listener, installationHere({ file: config ?? null, env, cwd }));
}
