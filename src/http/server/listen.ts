// Opens a listener: callers that connect at one moment wait in the kernel's queue and are not refused [api.accept-burst].
import type { AddressInfo } from "node:net";
import type { FastifyInstance } from "fastify";

/**
 * Node's own is 511. What finds no place is dropped by the kernel, and its caller tries again after 1, 3, 7, 15 seconds: measured with
 * 9,500 connections opened at once. The kernel takes `net.core.somaxconn` where that is less.
 */
const BACKLOG = 4_096;

export interface ListenAt {
  readonly host: string;
  readonly port: number;
  /** No other process shares it. */
  readonly exclusive?: boolean;
}

/** Answers the address. */
export function listen(server: Pick<FastifyInstance, "listen">, at: ListenAt): Promise<string> {
  return server.listen({ ...at, backlog: BACKLOG });
}

/** Where others reach a server that listens at `addresses`: `configured`, whose port 0 is the one that the system chose. */
export function publicUrlOf(configured: string, addresses: readonly (Pick<AddressInfo, "port"> | string)[]): string {
  const url = new URL(configured);
  const [address] = addresses;
  if (url.port !== "0" || typeof address !== "object") return configured;
  url.port = String(address.port);
  return url.href.replace(/\/$/, "");
}
