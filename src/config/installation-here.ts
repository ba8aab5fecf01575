// Finds the installation of the current directory: its data directory and its configured listeners. Reads leniently and without the schema, so that a command
// that calls a gateway works despite faults elsewhere in the configuration.
import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { findFile, type Search } from "./find-file.ts";
import { interpolate } from "./interpolate.ts";
import { field, text } from "./raw-data.ts";
import { reachableHost } from "./reachable-host.ts";
import { readYaml, toPlainData } from "./read-yaml.ts";
import { readRunningGateway } from "./running-gateway.ts";

export interface InstallationHere {
  readonly dataDir: string;
  /** The configured URL. Null: not configured, so the gateway chooses it. */
  readonly url: string | null;
  readonly adminUrl: string | null;
}

export type Listener = "url" | "adminUrl";

const DEFAULT_HOST = "127.0.0.1";
const DEFAULT_PORTS: Readonly<Record<Listener, number>> = { url: 8080, adminUrl: 8081 };

export function installationHere(search: Search): InstallationHere {
  const file = findFile(search);
  const directory = file === null ? search.cwd : dirname(file);
  const data = file === null ? null : readData(file, { env: search.env, directory });
  const server = field(data, "server");
  const dataDir = text(field(data, "storage"), "data_dir") ?? "";
  return {
    dataDir: resolve(directory, dataDir === "" ? "data" : dataDir),
    url: urlOf("url", server),
    adminUrl: urlOf("adminUrl", field(server, "admin")),
  };
}

/**
 * The configured listener, otherwise that of the gateway that runs on the data directory. If that gateway's command line overrode the listener, the override
 * wins over the configuration.
 */
export function listenerOf(listener: Listener, { dataDir, ...configured }: InstallationHere): string | null {
  const running = readRunningGateway(dataDir);
  return running?.overridden[listener] === true
    ? running[listener]
    : (configured[listener] ?? running?.[listener] ?? null);
}

/** Null: neither host nor port is set, or the port is any free one. */
function urlOf(listener: Listener, section: unknown): string | null {
  const host = text(section, "host");
  const configuredPort = field(section, "port");
  const port = configuredPort === undefined || configuredPort === null ? null : Number(configuredPort);
  if ((host === undefined && port === null) || port === 0 || Number.isNaN(port)) return null;
  return `http://${reachableHost(host ?? DEFAULT_HOST)}:${port ?? DEFAULT_PORTS[listener]}`;
}

function readData(path: string, sources: Parameters<typeof interpolate>[1]): unknown {
  try {
    const yaml = readYaml(readFileSync(path, "utf8"));
    if (!yaml.isUsable) return null;
    interpolate(yaml.document, sources);
    return toPlainData(yaml.document)?.data ?? null;
  } catch {
    return null;
  }
}
