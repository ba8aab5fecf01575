// Opens a listener with an accept queue that is long enough for bursts of connections [api.accept-burst].
import type { AddressInfo } from "node:net";
import type { FastifyInstance } from "fastify";

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

/** Returns the address. */
export function listen(server: Pick<FastifyInstance, "listen">, at: ListenAt): Promise<string> {
  return server.listen({ ...at, backlog: BACKLOG });
}

/** The public URL of a server that listens at `addresses`: `configured`, with port 0 replaced by the port that the system chose. */
export function publicUrlOf(configured: string, addresses: readonly (Pick<AddressInfo, "port"> | string)[]): string {
  const url = new URL(configured);
  const [address] = addresses;
  if (url.port !== "0" || typeof address !== "object") return configured;
  url.port = String(address.port);
  return url.href.replace(/\/$/, "");
}
