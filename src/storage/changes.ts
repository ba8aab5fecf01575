// Receives what `announce.ts` sends, through a connection of its own that is made again when it breaks.
import { CHANGE_TOPICS, CHANGES_CHANNEL, type ChangeTopic } from "./announce.ts";
import type { Database } from "./database.ts";
import { listenOnServer } from "./listen-server.ts";
import { announceKeys } from "./running-keys.ts";
import { engine } from "./system.ts";

export interface Changes {
  /** `detail` is null when some may have been missed. Answers how to stop listening. */
  onChange(topic: ChangeTopic, listener: (detail: string | null) => void): () => void;
  close(): Promise<void>;
}

export interface ListenOptions {
  /** The connection broke or could not be made; it is tried again, and nothing more is told until it stood. */
  readonly onError: (error: unknown) => void;
  /** Of the ring of this process, for those that start beside it (`running-keys.ts`). */
  readonly keyIds: readonly string[];
}

/** Listens when it resolves, unless the server is away at this moment. */
export async function listenForChanges(database: Database, options: ListenOptions): Promise<Changes> {
  const listeners = new Map(CHANGE_TOPICS.map((topic) => [topic, new Set<(detail: string | null) => void>()]));
  const tell = (topic: ChangeTopic, detail: string | null): void =>
    listeners.get(topic)?.forEach((listener) => listener(detail));
  const missed = (): void => CHANGE_TOPICS.forEach((topic) => tell(topic, null));
  const heard = (payload: string): void => {
    const change = readChange(payload);
    if (change === null) missed();
    else tell(change.topic, change.detail);
  };
  const { direct } = engine(database);
  const ears = await listenOnServer({
    listenUrl: direct.listenUrl,
    channel: CHANGES_CHANNEL,
    applicationName: "patchbay-changes",
    heard,
    missed,
    onError: options.onError,
    onConnect: (client) => announceKeys(client, options.keyIds),
  });
  return {
    onChange: (topic, listener) => {
      listeners.get(topic)?.add(listener);
      return () => listeners.get(topic)?.delete(listener);
    },
    close: async () => {
      await ears.close();
    },
  };
}

/** Of a process of another version a topic may be unknown: then anything may have changed. */
function readChange(payload: string): { readonly topic: ChangeTopic; readonly detail: string } | null {
  try {
    const { topic, detail } = JSON.parse(payload) as { readonly topic?: unknown; readonly detail?: unknown };
    const known = CHANGE_TOPICS.find((each) => each === topic);
    return known === undefined || typeof detail !== "string" ? null : { topic: known, detail };
  } catch {
    return null;
  }
}
