// Shared by the benchmarks' child processes: an argument from the parent, an answer to it, and exit together with the parent.
import type { AddressInfo, Server } from "node:net";

/** The parent's argument; each program casts it to the type that its parent's call is checked against. */
export function childArgument(): unknown {
  return JSON.parse(process.argv[2] ?? "{}");
}

export function tellParent(message: object): void {
  process.send?.(message);
}

/** Listens on loopback, reports the address, and exits when the parent does. */
export function serveParent(server: Server): void {
  process.once("disconnect", () => process.exit(0));
  server.listen(0, "127.0.0.1", () => {
    tellParent({ origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
  });
}
