// Opens a listener with an accept queue that is long enough for bursts of connections [api.accept-burst].
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import type { HttpServer } from "./server.ts";

/**
 * Node's default is 511. The kernel drops connections that do not fit, and their clients retry after 1, 3, 7 and 15 seconds: measured with 9,500
 * connections opened at once. The kernel uses `net.core.somaxconn` if that is lower.
 */
const BACKLOG = 4_096;

export interface ListenAt {
  readonly host: string;
  readonly port: number;
  /** The port is not shared with other processes. */
  readonly exclusive?: boolean;
}

/** Returns the address as a URL. Rejects with the system's error, such as EADDRINUSE. */
export async function listen({ server }: Pick<HttpServer, "server">, at: ListenAt): Promise<string> {
  server.listen({ ...at, backlog: BACKLOG });
  await once(server, "listening");
  const { address, port } = server.address() as AddressInfo;
  if (address === "0.0.0.0") return `http://127.0.0.1:${port}`;
  return `http://${address.includes(":") ? `[${address}]` : address}:${port}`;
}

/** The public URL of a server that listens at `address`: `configured`, with port 0 replaced by the port that the system chose. */
export function publicUrlOf(configured: string, address: Pick<AddressInfo, "port"> | string | null): string {
  const url = new URL(configured);
  if (url.port !== "0" || address === null || typeof address === "string") return configured;
  url.port = String(address.port);
  return url.href.replace(/\/$/, "");
}
