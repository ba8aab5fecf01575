// Whether an address is free to listen on: opened and closed again at once (`patchbay doctor`).
import { once } from "node:events";
import { createServer } from "node:net";

/** Null: it is; else the system's code, such as EADDRINUSE. */
export async function whyNotListen(host: string, port: number): Promise<string | null> {
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
