// A TCP proxy that simulates network faults: half-open connections, delays, single bytes, cuts in the middle, resets and refusals.
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { setTimeout as wait } from "node:timers/promises";

export type NetworkFault =
  /** Nothing passes on old and new connections. */
  | { readonly kind: "half-open" }
  /** In both directions, or one. Delayed bytes are lost if the other end closes. */
  | { readonly kind: "delay"; readonly ms: number; readonly way?: Way }
  /** One byte at a time in both directions, one per event-loop tick. */
  | { readonly kind: "trickle" }
  /** Resets new and existing connections. */
  | { readonly kind: "reset" }
  /** Resets each connection after so many bytes in this direction. */
  | { readonly kind: "cut"; readonly way: Way; readonly afterBytes: number };

/** `there`: from the connecting side. */
type Way = "there" | "back";

export interface FaultProxy {
  /** The given URL through this proxy. */
  readonly url: string;
  set(fault: NetworkFault): void;
  /** Delayed bytes arrive. */
  clear(): void;
  close(): Promise<void>;
}

export async function startFaultProxy(to: string): Promise<FaultProxy> {
  const target = new URL(to);
  const sockets = new Set<Socket>();
  let fault: NetworkFault | null = null;
  let leftOf = new WeakMap<Socket, number>();

  const isCut = (from: Socket, way: Way, bytes: number): boolean => {
    if (fault?.kind !== "cut" || fault.way !== way) return false;
    const remaining = (leftOf.get(from) ?? fault.afterBytes) - bytes;
    leftOf.set(from, remaining);
    return remaining < 0;
  };
  const hold = (socket: Socket): void => {
    if (fault?.kind === "half-open") socket.pause();
  };
  const pass = async (bytes: Buffer, into: Socket, way: Way): Promise<void> => {
    if (fault?.kind === "delay" && (fault.way ?? way) === way) await wait(fault.ms);
    let at = 0;
    // The rest is sent at once when the fault ends.
    const isTrickling = (): boolean => fault?.kind === "trickle";
    for (; isTrickling() && at < bytes.length; at += 1) {
      into.write(bytes.subarray(at, at + 1));
      await new Promise(setImmediate);
    }
    if (at < bytes.length) into.write(bytes.subarray(at));
  };
  const join = (from: Socket, into: Socket, way: Way): void => {
    sockets.add(from);
    const inOrder = async (earlier: Promise<void>, bytes: Buffer): Promise<void> => {
      await earlier;
      await pass(bytes, into, way);
      from.resume();
      hold(from);
    };
    let before = Promise.resolve();
    from.on("data", (bytes: Buffer) => {
      if (isCut(from, way, bytes.length)) {
        from.resetAndDestroy();
        into.resetAndDestroy();
        return;
      }
      // Reading pauses while bytes are delayed or trickle.
      from.pause();
      before = inOrder(before, bytes);
    });
    from.on("end", () => void before.then(() => into.end()));
    from.on("error", () => into.destroy());
    from.on("close", () => {
      sockets.delete(from);
      into.destroy();
    });
    hold(from);
  };
  const server = createServer({ noDelay: true }, (clientSocket) => {
    if (fault?.kind === "reset") {
      clientSocket.on("error", () => undefined);
      clientSocket.resetAndDestroy();
      return;
    }
    const serverSocket = connect({ host: target.hostname, port: Number(target.port), noDelay: true });
    join(clientSocket, serverSocket, "there");
    join(serverSocket, clientSocket, "back");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = new URL(to);
  url.port = String((server.address() as AddressInfo).port);
  return {
    url: url.href,
    set: (next) => {
      fault = next;
      leftOf = new WeakMap();
      for (const socket of sockets) {
        if (next.kind === "reset") socket.resetAndDestroy();
        else hold(socket);
      }
    },
    clear: () => {
      fault = null;
      for (const socket of sockets) socket.resume();
    },
    close: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}
