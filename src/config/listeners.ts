// Where a gateway listens: the file's settings under the command line's, and that its two listeners do not stand in each other's way.
import type { z } from "zod";
import { field } from "./raw-data.ts";
import type { SchemaFault } from "./schema-faults.ts";
import { adminListener, serverSection } from "./schema/file.ts";

/** From the command line; they win over the file. */
export interface ListenerOverrides {
  readonly host?: string | undefined;
  readonly port?: number | undefined;
  /** Opens an admin listener also where the file has none. */
  readonly adminPort?: number | undefined;
}

const ADMIN_PORT = 8081;

export function listenersOf(
  { host: written, port: chosen, admin }: z.output<typeof serverSection>,
  overrides: ListenerOverrides,
) {
  const host = overrides.host ?? written;
  const port = overrides.port ?? chosen;
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

/** Otherwise the second one would be told at the start that another process has its port. */
export function checkListeners(data: unknown, overrides: ListenerOverrides): readonly SchemaFault[] {
  const server = serverSection.safeParse(field(data, "server") ?? {});
  if (!server.success) return [];
  const { host, port, admin } = listenersOf(server.data, overrides);
  const isShared = admin !== null && port !== 0 && admin.port === port;
  if (!isShared || (host !== admin.host && !isEverywhere(host) && !isEverywhere(admin.host))) return [];
  return [
    {
      path: ["server", "admin", "port"],
      message: "is the port that the gateway itself listens on; choose another one, here or by --admin-port",
    },
  ];
}

function isEverywhere(host: string): boolean {
  return host === "0.0.0.0" || host === "::";
}
