// The production DNS resolver [remote-audio.resolver] and connector [remote-audio.dial-vetted], which `compose/app.ts` passes to the guard.
import { lookup, Resolver } from "node:dns/promises";
import { connect as connectTcp, isIP, type Socket } from "node:net";
import { networkInterfaces } from "node:os";
import { connect as connectTls } from "node:tls";
import { errorCode } from "../lib/error-code.ts";
import type { Connect, Resolve } from "./guard.ts";
import { ConnectFailure } from "./refusal.ts";

/** Below the guard's own limit, so that a server that never answers for one address family does not cost the answers of the other. */
const QUERY_TIMEOUT_MS = 1_500;

/**
 * Queries the name servers directly: no hosts file, no search list (Kubernetes' `ndots:5` would try other names first), and a query that hangs holds no thread.
 * IPv4 first, because every machine has it.
 */
export function systemResolver({
  servers,
  queryTimeoutMs = QUERY_TIMEOUT_MS,
}: {
  readonly servers?: readonly string[];
  readonly queryTimeoutMs?: number;
} = {}): Resolve {
  return async (name, signal) => {
    // RFC 6761, 6.3: these names are loopback whatever a server answers.
    if (name === "localhost" || name.endsWith(".localhost")) return ["127.0.0.1", "::1"];
    const resolver = new Resolver({ timeout: queryTimeoutMs, tries: 1 });
    if (servers !== undefined) resolver.setServers(servers);
    const cancel = (): void => resolver.cancel();
    signal.addEventListener("abort", cancel);
    try {
      const [four, six] = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
      if (four.status === "rejected" && six.status === "rejected") throw four.reason;
      return [four, six].flatMap((answer) => (answer.status === "fulfilled" ? answer.value : []));
    } finally {
      signal.removeEventListener("abort", cancel);
    }
  };
}

/** Resolves as a socket to the operator's own addresses does, with the hosts file and the search list. */
export async function systemLookUp(name: string): Promise<readonly string[]> {
  return (await lookup(name, { all: true })).map(({ address }) => address);
}

/** Certificates are always checked. `ca` replaces the built-in roots, for tests with their own. */
export function systemConnector({ ca }: { readonly ca?: string } = {}): Connect {
  return async ({ address, port, tlsName }, signal) => {
    const raw = await waitForSocket("connect", signal, connectTcp({ host: address, port, noDelay: true }), "connect");
    const { remoteAddress } = raw;
    if (tlsName === null) return { socket: raw, remoteAddress };
    const secure = connectTls({
      socket: raw,
      host: tlsName,
      ...(isIP(tlsName) === 0 ? { servername: tlsName } : {}),
      // Explicit, so that no environment variable can turn it off.
      rejectUnauthorized: true,
      ALPNProtocols: ["http/1.1"],
      ca,
    });
    return { socket: await waitForSocket("tls", signal, secure, "secureConnect"), remoteAddress };
  };
}

/** This machine's addresses, so that it cannot be made to call its own public side. */
export function ownAddresses(): readonly string[] {
  return Object.values(networkInterfaces()).flatMap((entries) => (entries ?? []).map(({ address }) => address));
}

async function waitForSocket<S extends Socket>(
  stage: ConnectFailure["stage"],
  signal: AbortSignal,
  socket: S,
  event: "connect" | "secureConnect",
): Promise<S> {
  const ready = Promise.withResolvers<S>();
  const fail = (error?: unknown): void => ready.reject(new ConnectFailure(stage, errorCode(error)));
  const stop = (): void => void socket.destroy();
  socket.once(event, () => ready.resolve(socket));
  socket.on("error", fail);
  socket.once("close", () => fail());
  signal.addEventListener("abort", stop);
  if (signal.aborted) stop();
  try {
    return await ready.promise;
  } finally {
    signal.removeEventListener("abort", stop);
  }
}
