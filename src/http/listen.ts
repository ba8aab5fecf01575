// Opens a listener of the gateway's (reliability 7): callers that come all at once wait in the kernel's queue, and are not turned away.
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

/**
 * Where others reach the server: `configured`, whose port 0 is the one that the system chose. It stays so when the server no longer listens
 * and still answers.
 */
export function publicUrlOf(configured: string, listening: () => Pick<FastifyInstance, "addresses">): () => string {
  const url = new URL(configured);
  if (url.port !== "0") return () => configured;
  let known: string | null = null;
  return () => {
    const [address] = listening().addresses();
    if (known !== null || typeof address !== "object") return known ?? configured;
    url.port = String(address.port);
    known = url.href.replace(/\/$/, "");
    return known;
  };
}
