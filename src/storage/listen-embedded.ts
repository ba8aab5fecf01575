// Notifications on the embedded engine: they come by its one connection, whoever holds it at that moment.
import { type ClientBase, escapeIdentifier, type Notification, type Pool } from "pg";

export interface EmbeddedListener {
  readonly heard: (payload: string) => void;
  /** The connection was another's, and is heard again: what was said in between is lost. */
  readonly missed: () => void;
}

/** Answers how to stop. The session then goes on listening, and nobody is told. */
export async function listenEmbedded(
  pool: Pool,
  channel: string,
  { heard, missed }: EmbeddedListener,
): Promise<() => void> {
  let isOver = false;
  const tell = (said: Notification): void => {
    if (said.channel === channel && !isOver) heard(said.payload ?? "");
  };
  const listen = async (client: ClientBase): Promise<void> => {
    client.on("notification", tell);
    await client.query(`listen ${escapeIdentifier(channel)}`);
  };
  const client = await pool.connect();
  try {
    await listen(client);
  } finally {
    client.release();
  }
  // One that breaks on it is replaced in its turn.
  const again = (next: ClientBase): void => void listen(next).then(missed, () => undefined);
  pool.on("connect", again);
  return () => {
    isOver = true;
    pool.off("connect", again);
    client.off("notification", tell);
  };
}
