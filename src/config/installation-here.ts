// The installation that a command is called in: its data directory, and where its configuration says that it listens. Read leniently and
// without the schema: a configuration with faults elsewhere still says this, and a command that asks a gateway does not wait for more.
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
  /** What the configuration names; null: it leaves the place to the gateway. */
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
    url: placeOf("url", server),
    adminUrl: placeOf("adminUrl", field(server, "admin")),
  };
}

/**
 * The configuration's place, and where it names none that of the gateway that runs on its data directory. One that was started with a place
 * of its own on the command line is there, whatever the configuration says.
 */
export function listenerOf(listener: Listener, { dataDir, ...configured }: InstallationHere): string | null {
  const running = readRunningGateway(dataDir);
  return running?.overridden[listener] === true
    ? running[listener]
    : (configured[listener] ?? running?.[listener] ?? null);
}

/** Null: neither host nor port are set, or the port is any free one. */
function placeOf(listener: Listener, section: unknown): string | null {
  const host = text(section, "host");
  const given = field(section, "port");
  const port = given === undefined || given === null ? null : Number(given);
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
