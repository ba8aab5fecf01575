// Resolves the addresses that a gateway listens on, with command-line overrides, and checks that its two listeners do not conflict.
import type { z } from "zod";
import { field } from "./raw-data.ts";
import type { SchemaFault } from "./schema-faults.ts";
import { adminListener, serverSection } from "./schema/file.ts";

/** Command-line options, which override the file. */
export interface ListenerOverrides {
  readonly host?: string | undefined;
  readonly port?: number | undefined;
  /** Opens an admin listener even if the file configures none. */
  readonly adminPort?: number | undefined;
}

const ADMIN_PORT = 8081;

export function listenersOf(
  { host: configuredHost, port: configuredPort, admin }: z.output<typeof serverSection>,
  overrides: ListenerOverrides,
) {
  const host = overrides.host ?? configuredHost;
  const port = overrides.port ?? configuredPort;
  const listener = admin ?? (overrides.adminPort === undefined ? null : adminListener.parse({}));
  return {
    host,
    port,
    admin:
      listener === null
        ? null
        : { ...listener, port: overrides.adminPort ?? listener.port ?? (port === 0 ? 0 : ADMIN_PORT) },
  };
}

/** Reports a shared port here, because at start the second listener would blame another process for it. */
export function checkListeners(data: unknown, overrides: ListenerOverrides): readonly SchemaFault[] {
  const server = serverSection.safeParse(field(data, "server") ?? {});
  if (!server.success) return [];
  const { host, port, admin } = listenersOf(server.data, overrides);
  const isShared = admin !== null && port !== 0 && admin.port === port;
  if (!isShared || (host !== admin.host && !isAnyAddress(host) && !isAnyAddress(admin.host))) return [];
  return [
    {
      path: ["server", "admin", "port"],
      message: "is the port that the gateway itself listens on; choose another one, here or by --admin-port",
    },
  ];
}

function isAnyAddress(host: string): boolean {
  return host === "0.0.0.0" || host === "::";
}
