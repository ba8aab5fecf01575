// The canary on loopback [logs.network-canary]: listens where hostile addresses point, and must receive no connection in a whole run. `scripts/test.ts` shares
// one among all test files; without that runner each file has its own, and its connections are failures.
import { once } from "node:events";
import { type AddressInfo, connect, createServer, isIPv6, type Server, type Socket } from "node:net";

export interface Canary {
  /** Its own port, which replaces the ports of hostile URLs. */
  readonly port: number;
  /** `address:port` of every listener. */
  readonly listening: readonly string[];
  /** Received connections: their target, and the start of what they sent. */
  readonly connections: readonly string[];
  /** Connects once to each address, checks that each is seen, and forgets them. */
  prove(): Promise<void>;
  close(): Promise<void>;
}

export const CANARY_PORT = "PATCHBAY_TEST_CANARY_PORT";

/** Addresses in the tables of hostile URLs: loopback in its spellings, with ports of common services. */
const ADDRESSES = ["127.0.0.1", "127.1.1.1", "127.2.2.2", "127.127.127.127", "127.255.255.254", "::1"];
const PORTS = [25, 80, 443, 6379];
/** Below the ephemeral ports of operating systems: a freed port can never become the canary's. */
const OWN_PORTS = { from: 20_000, count: 12_000 };
const FIRST_BYTES_MS = 5_000;

export async function startCanary(onConnection: (about: string) => void = () => undefined): Promise<Canary> {
  const servers: Server[] = [];
  const connections: string[] = [];
  const recordConnection = (socket: Socket): void => {
    const index = connections.push(placeOf(socket.localAddress ?? "", socket.localPort ?? 0)) - 1;
    onConnection(connections[index] ?? "");
    socket.on("error", () => undefined);
    socket.once("data", (bytes) => {
      const [beginning = ""] = /^[\x20-\x7e]*/u.exec(bytes.subarray(0, 80).toString("latin1")) ?? [];
      connections[index] += ` "${beginning}"`;
      socket.destroy();
    });
    socket.setTimeout(FIRST_BYTES_MS, () => socket.destroy());
  };
  const listen = async (host: string, port: number): Promise<boolean> => {
    const server = createServer(recordConnection);
    server.listen({ host, port });
    try {
      await once(server, "listening");
    } catch {
      return false;
    }
    // Does not keep the process alive.
    servers.push(server.unref());
    return true;
  };
  let port = 0;
  do port = OWN_PORTS.from + Math.floor(Math.random() * OWN_PORTS.count);
  while (!(await listen("127.0.0.1", port)));
  // Addresses in use, or that need privileges, are skipped; its own port is always available.
  for (const address of ADDRESSES)
    for (const each of [port, ...PORTS]) if (each !== port || address !== "127.0.0.1") await listen(address, each);
  const places = servers.map((server) => server.address() as AddressInfo);
  return {
    port,
    listening: places.map(({ address, port: each }) => placeOf(address, each)),
    connections,
    prove: async () => {
      for (const { address, port: each } of places) {
        const socket = connect({ host: address, port: each });
        await once(socket, "connect");
        // On a busy machine the canary may close before it has read the byte, which resets the connection.
        socket.on("error", () => undefined);
        await new Promise((resolve) => socket.end("x").once("close", resolve));
      }
      if (connections.length !== places.length)
        throw new Error(`the canary saw ${connections.length} of ${places.length} connections`);
      connections.length = 0;
    },
    close: async () => {
      for (const server of servers) await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Port of the run's canary. */
export async function canaryPort(): Promise<number> {
  const port = Number(process.env[CANARY_PORT]);
  if (port > 0) return port;
  const canary = await startCanary((about) => {
    throw new Error(`a connection to the canary: ${about}`);
  });
  process.env[CANARY_PORT] = String(canary.port);
  return canary.port;
}

function placeOf(address: string, port: number): string {
  return isIPv6(address) ? `[${address}]:${port}` : `${address}:${port}`;
}
