// Checks whether an address is free to listen on, by opening and closing a listener (`patchbay doctor`).
import { once } from "node:events";
import { createServer } from "node:net";

/** Null: the address is free. Otherwise the system's error code, such as EADDRINUSE. */
export async function listenProblem(host: string, port: number): Promise<string | null> {
  const server = createServer();
  try {
    server.listen({ host, port, exclusive: true });
    await once(server, "listening");
  } catch (error) {
    return error instanceof Error && "code" in error ? String(error.code) : "unknown";
  }
  server.close();
  await once(server, "close");
  return null;
}
