// What a benchmark's own processes share: an argument from the parent, an answer to it, and an end with it.
import type { AddressInfo, Server } from "node:net";

/** What the parent passed; each program casts it to the type that its parent's call is checked against. */
export function childArgument(): unknown {
  return JSON.parse(process.argv[2] ?? "{}");
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
