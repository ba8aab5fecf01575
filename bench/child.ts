// What a benchmark's own processes share: an argument from the parent, an answer to it, and an end with it.
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";

export function childArgument<Argument>(): Argument {
  return JSON.parse(process.argv[2] ?? "{}") as Argument;
}

export function tellParent(message: object): void {
  process.send?.(message);
}

/** Listens on loopback, says where, and goes when the parent does. */
export function serveParent(server: Server): void {
  process.once("disconnect", () => process.exit(0));
  server.listen(0, "127.0.0.1", () => {
    tellParent({ origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
  });
}
