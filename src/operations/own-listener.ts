// The URLs of the gateway of a configuration: from what the running gateway wrote into its data directory, else from the settings.
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
  return findRunning("url", options, terminal) ?? `http://${reachableHost(server.host)}:${server.port}`;
}

/** Null if there is no admin listener. */
export function ownAdminUrl(
  { server, storage }: Configuration,
  options: { readonly config?: string },
  terminal: Terminal,
): string | null {
  const runningUrl = findRunning("adminUrl", options, terminal);
  // The command line may have added an admin listener that the configuration lacks.
  const configured = server.admin ?? readRunningGateway(storage.dataDir)?.adminUrl ?? null;
  if (configured === null) return null;
  if (runningUrl !== null) return runningUrl;
  return typeof configured === "string" ? configured : `http://${reachableHost(configured.host)}:${configured.port}`;
}

function findRunning(listener: "url" | "adminUrl", { config }: { readonly config?: string }, { env, cwd }: Terminal) {
  return listenerOf(listener, installationHere({ file: config ?? null, env, cwd }));
}
