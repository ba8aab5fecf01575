// A TCP proxy whose connections can be made half-open: both ends believe that they are connected, and nothing arrives any more
// (reliability J-06), as behind a router that has forgotten them.
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

export interface HalfOpenProxy {
  /** The URL given, by way of here. */
  readonly url: string;
  /** From now on nothing passes, on old connections and new ones. */
  freeze(): void;
  /** What was held up arrives. */
  thaw(): void;
  close(): Promise<void>;
}

export async function startHalfOpenProxy(to: string): Promise<HalfOpenProxy> {
  const target = new URL(to);
  const sockets = new Set<Socket>();
  let isFrozen = false;
  const join = (from: Socket, into: Socket): void => {
    sockets.add(from);
    from.on("data", (bytes) => into.write(bytes));
    from.on("end", () => into.end());
    from.on("error", () => into.destroy());
    from.on("close", () => {
      sockets.delete(from);
      into.destroy();
    });
    if (isFrozen) from.pause();
  };
  const server = createServer((near) => {
    const far = connect({ host: target.hostname, port: Number(target.port), noDelay: true });
    join(near, far);
    join(far, near);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = new URL(to);
  url.port = String((server.address() as AddressInfo).port);
  return {
    url: url.href,
    freeze: () => {
      isFrozen = true;
      for (const socket of sockets) socket.pause();
    },
    thaw: () => {
      isFrozen = false;
      for (const socket of sockets) socket.resume();
    },
    close: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}
