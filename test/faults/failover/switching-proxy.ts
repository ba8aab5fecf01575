// The fixed address of a database that fails over: a TCP proxy that can be switched from one server to another.
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

export interface SwitchingProxy extends AsyncDisposable {
  readonly port: number;
  /** Routes new connections there and cuts existing ones to other servers, like a balancer that marks a server down. */
  switchTo(port: number): void;
}

export async function startSwitchingProxy(first: number): Promise<SwitchingProxy> {
  const sockets = new Set<Socket>();
  let target = first;
  const server = createServer({ noDelay: true }, (near) => {
    const far = connect({ host: "127.0.0.1", port: target, noDelay: true });
    for (const [from, into] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from);
      from.on("error", () => into.destroy());
      from.on("close", () => {
        sockets.delete(from);
        into.destroySoon();
      });
      from.pipe(into);
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    switchTo: (port) => {
      target = port;
      for (const socket of sockets) socket.destroy();
    },
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}
