// Notifications on the embedded engine: they come by its one connection, whoever holds it at that moment.
import { escapeIdentifier, type Notification, type Pool } from "pg";

/** Answers how to stop. The session then goes on listening, and nobody is told. */
export async function listenEmbedded(
  pool: Pool,
  channel: string,
  heard: (payload: string) => void,
): Promise<() => void> {
  const tell = (said: Notification): void => {
    if (said.channel === channel) heard(said.payload ?? "");
  };
  const client = await pool.connect();
  try {
    client.on("notification", tell);
    await client.query(`listen ${escapeIdentifier(channel)}`);
    return () => client.off("notification", tell);
  } finally {
    client.release();
  }
}
