// Checks whether a PostgreSQL server accepts connections.
import { Client, type ClientConfig } from "pg";

const CONNECT_MS = 2_000;

export async function acceptsConnections(config: ClientConfig): Promise<boolean> {
  const client = new Client({ ...config, connectionTimeoutMillis: CONNECT_MS });
  client.on("error", () => undefined);
  try {
    await client.connect();
    return true;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => undefined);
  }
}
