// Name servers and an internet for the guard: names have the addresses a test gives them, and each public address is a
// server on loopback. Whatever else is dialled ends at the run's canary, which must never see a connection.
import { connect as connectTcp } from "node:net";
import { once } from "node:events";
import { ConnectFailure } from "../../src/outbound/dial.ts";
import type { Connect, Resolve } from "../../src/outbound/guard.ts";
import { canaryPort } from "../harness/canary.ts";

export interface PretendInternet {
  readonly resolve: Resolve;
  readonly connect: Connect;
  readonly lookups: string[];
  readonly dialled: Parameters<Connect>[0][];
  /** From now on this name has these addresses; a list of lists is one answer after another. */
  name(name: string, addresses: readonly string[]): void;
  rebinding(name: string, answers: readonly (readonly string[])[]): void;
  /** What listens at a public address, whatever the port. */
  server(address: string, url: URL): void;
  /** Connections to addresses that no server was given. */
  canaryConnections(): number;
}

/** Plain sockets even where TLS is asked for: what TLS adds is tested where it is made (`system-network.test.ts`). */
export function pretendInternet(): PretendInternet {
  const names = new Map<string, readonly (readonly string[])[]>();
  const servers = new Map<string, URL>();
  const lookups: string[] = [];
  const dialled: Parameters<Connect>[0][] = [];
  let canaryConnections = 0;

  return {
    lookups,
    dialled,
    name: (name, addresses) => names.set(name, [addresses]),
    rebinding: (name, answers) => names.set(name, answers),
    server: (address, url) => servers.set(address, url),
    canaryConnections: () => canaryConnections,
    resolve: async (name) => {
      lookups.push(name);
      const answers = names.get(name) ?? [];
      const [answer, ...later] = answers;
      if (answer === undefined) throw new Error("queryA ENOTFOUND");
      if (later.length > 0) names.set(name, later);
      return answer;
    },
    connect: async (target, signal) => {
      dialled.push(target);
      const server = servers.get(target.address);
      if (server === undefined) canaryConnections++;
      const port = server === undefined ? await canaryPort() : Number(server.port);
      const socket = connectTcp({ host: "127.0.0.1", port, noDelay: true });
      socket.on("error", () => {});
      signal.addEventListener("abort", () => socket.destroy(), { once: true });
      try {
        await once(socket, "connect");
      } catch {
        throw new ConnectFailure("connect");
      }
      return { socket, remoteAddress: target.address };
    },
  };
}
