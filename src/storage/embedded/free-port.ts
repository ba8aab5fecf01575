// Finds a free TCP port on loopback, for systems without Unix sockets.
import { createServer } from "node:net";
import { once } from "node:events";

export async function freePort(): Promise<number> {
  const server = createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  if (address === null || typeof address === "string") throw new Error("no TCP port was assigned");
  return address.port;
}
