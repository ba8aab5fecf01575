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
  const tell = (said: Notification): void => {
    if (said.channel === channel) heard(said.payload ?? "");
  };
  const listen = async (client: ClientBase): Promise<void> => {
    client.on("notification", tell);
    await client.query(`listen ${escapeIdentifier(channel)}`);
  };
  const first = await pool.connect();
  let listening: ClientBase = first;
  try {
    await listen(first);
  } finally {
    first.release();
  }
  // One that breaks on it is replaced in its turn.
  const again = (next: ClientBase): void => {
    listening = next;
    void listen(next).then(missed, () => undefined);
  };
  pool.on("connect", again);
  return () => {
    pool.off("connect", again);
    listening.off("notification", tell);
  };
}
