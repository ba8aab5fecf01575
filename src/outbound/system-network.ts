// The real resolver [remote-audio.resolver] and the real connector [remote-audio.dial-vetted] that `app.ts` hands to the guard.
import { lookup, Resolver } from "node:dns/promises";
import { connect as connectTcp, isIP, type Socket } from "node:net";
import { networkInterfaces } from "node:os";
import { connect as connectTls } from "node:tls";
import { errorCode } from "../lib/error-code.ts";
import type { Connect, Resolve } from "./guard.ts";
import { ConnectFailure } from "./refusal.ts";

/** Under the guard's own limit, so that a server silent about one kind of address does not cost the answers to the other. */
const QUERY_TIMEOUT_MS = 1_500;

/**
 * Asks the name servers directly: no hosts file, no search list (Kubernetes' `ndots:5` would try other names first), and a
 * query that hangs holds no thread. IPv4 first: it is there on every machine.
 */
export function systemResolver({
  servers,
  queryTimeoutMs = QUERY_TIMEOUT_MS,
}: {
  readonly servers?: readonly string[];
  readonly queryTimeoutMs?: number;
} = {}): Resolve {
  return async (name, signal) => {
    // RFC 6761, 6.3: these names are loopback whatever a server says.
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

/** As a socket to the operator's own addresses finds them: the hosts file and the search list as well. */
export async function systemLookUp(name: string): Promise<readonly string[]> {
  return (await lookup(name, { all: true })).map(({ address }) => address);
}

/** Certificates are always checked; `ca` adds to nothing and replaces the built-in roots, for tests with their own. */
export function systemConnector({ ca }: { readonly ca?: string } = {}): Connect {
  return async ({ address, port, tlsName }, signal) => {
    const raw = await opened("connect", signal, connectTcp({ host: address, port, noDelay: true }), "connect");
    const { remoteAddress } = raw;
    if (tlsName === null) return { socket: raw, remoteAddress };
    const secure = connectTls({
      socket: raw,
      host: tlsName,
      ...(isIP(tlsName) === 0 ? { servername: tlsName } : {}),
      // Said here, so that no environment variable says otherwise.
      rejectUnauthorized: true,
      ALPNProtocols: ["http/1.1"],
      ca,
    });
    return { socket: await opened("tls", signal, secure, "secureConnect"), remoteAddress };
  };
}

/** What this machine calls itself: it must not be made to call its own public side. */
export function ownAddresses(): readonly string[] {
  return Object.values(networkInterfaces()).flatMap((entries) => (entries ?? []).map(({ address }) => address));
}

async function opened<S extends Socket>(
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
