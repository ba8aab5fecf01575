// A TCP proxy that does what networks do to connections: it forgets them so that both ends believe they are connected and nothing arrives
// any more, holds bytes up, passes them one by one, cuts in the middle, resets and refuses.
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { setTimeout as wait } from "node:timers/promises";

export type NetworkFault =
  /** On old connections and new ones nothing passes. */
  | { readonly kind: "half-open" }
  /** Each way, or one; what is still held up when the other end closes never arrives. */
  | { readonly kind: "delay"; readonly ms: number; readonly way?: Way }
  /** One byte at a time, each way, a turn of the loop between them. */
  | { readonly kind: "trickle" }
  /** New connections are reset; so is every old one. */
  | { readonly kind: "reset" }
  /** Each connection is reset once so many bytes went this way. */
  | { readonly kind: "cut"; readonly way: Way; readonly afterBytes: number };

/** `there`: from whoever connected. */
type Way = "there" | "back";

export interface FaultProxy {
  /** The URL given, by way of here. */
  readonly url: string;
  set(fault: NetworkFault): void;
  /** What was held up arrives. */
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
    const left = (leftOf.get(from) ?? fault.afterBytes) - bytes;
    leftOf.set(from, left);
    return left < 0;
  };
  const hold = (socket: Socket): void => {
    if (fault?.kind === "half-open") socket.pause();
  };
  const pass = async (bytes: Buffer, into: Socket, way: Way): Promise<void> => {
    if (fault?.kind === "delay" && (fault.way ?? way) === way) await wait(fault.ms);
    let at = 0;
    // Whatever is left goes at once when the fault is over.
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
      // What waits or goes byte by byte is not read on meanwhile.
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
  const server = createServer({ noDelay: true }, (near) => {
    if (fault?.kind === "reset") {
      near.on("error", () => undefined);
      near.resetAndDestroy();
      return;
    }
    const far = connect({ host: target.hostname, port: Number(target.port), noDelay: true });
    join(near, far, "there");
    join(far, near, "back");
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
