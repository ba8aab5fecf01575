// Receives the notifications of `announce.ts` through a dedicated connection, which reconnects when it breaks.
import { CHANGE_TOPICS, CHANGES_CHANNEL, type ChangeTopic } from "./announce.ts";
import type { Database } from "../database.ts";
import { listenOnServer } from "./listen-server.ts";
import { announceKeys } from "../secrets/running-keys.ts";
import { bypassRls } from "../system.ts";

export interface Changes {
  /** `detail` is null if notifications may have been missed. Returns a function that unsubscribes. */
  onChange(topic: ChangeTopic, listener: (detail: string | null) => void): () => void;
  close(): Promise<void>;
}

export interface ListenOptions {
  /** The connection failed and is retried. Further failures are not reported until it has succeeded. */
  readonly onError: (error: unknown) => void;
  /** The key ids of this process's ring, announced to processes that start (`running-keys.ts`). */
  readonly keyIds: readonly string[];
}

/** Resolves when it is listening, or after the first attempt if the server is unavailable. */
export async function listenForChanges(database: Database, options: ListenOptions): Promise<Changes> {
  const listeners = new Map(CHANGE_TOPICS.map((topic) => [topic, new Set<(detail: string | null) => void>()]));
  const notify = (topic: ChangeTopic, detail: string | null): void =>
    listeners.get(topic)?.forEach((listener) => listener(detail));
  const missed = (): void => CHANGE_TOPICS.forEach((topic) => notify(topic, null));
  const heard = (payload: string): void => {
    const change = readChange(payload);
    if (change === null) missed();
    else notify(change.topic, change.detail);
  };
  const { direct } = bypassRls(database, "server");
  const connection = await listenOnServer({
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
      await connection.close();
    },
  };
}

/** Null: the topic is unknown, because it is from another version. Then anything may have changed. */
function readChange(payload: string): { readonly topic: ChangeTopic; readonly detail: string } | null {
  try {
    const { topic, detail } = JSON.parse(payload) as { readonly topic?: unknown; readonly detail?: unknown };
    const knownTopic = CHANGE_TOPICS.find((each) => each === topic);
    return knownTopic === undefined || typeof detail !== "string" ? null : { topic: knownTopic, detail };
  } catch {
    return null;
  }
}
