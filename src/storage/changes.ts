// Hears what `announce.ts` says (contract 2): on a server through a connection of its own, which comes back when it breaks; on the
// embedded engine through the engine itself, whose only process this is.
import { setTimeout as wait } from "node:timers/promises";
import { Client } from "pg";
import { CHANGE_TOPICS, CHANGES_CHANNEL, type ChangeTopic } from "./announce.ts";
import type { Database } from "./database.ts";
import { listenEmbedded } from "./listen-embedded.ts";
import { tellKeys } from "./running-keys.ts";
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

interface Ears {
  close(): Promise<void> | void;
}

const RETRY_MS = 500;
const CONNECT_MS = 5_000;
/** A connection that a firewall forgot says nothing: it is asked so often whether it still answers. */
const PROBE_MS = 10_000;

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
  const ears: Ears =
    direct.engine === "postgres"
      ? await listenOnServer(direct.databaseUrl, { heard, missed, ...options })
      : { close: await listenEmbedded(direct.pool, CHANGES_CHANNEL, { heard, missed }) };
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

interface ServerListener extends ListenOptions {
  readonly heard: (payload: string) => void;
  readonly missed: () => void;
}

async function listenOnServer(
  connectionString: string,
  { heard, missed, onError, keyIds }: ServerListener,
): Promise<Ears> {
  const closing = new AbortController();
  const first = Promise.withResolvers<void>();
  let isTold = false;

  /** Resolves when the connection has ended. */
  const listenOnce = async (isFirst: boolean): Promise<void> => {
    const client = new Client({
      connectionString,
      connectionTimeoutMillis: CONNECT_MS,
      query_timeout: CONNECT_MS,
      keepAlive: true,
      application_name: "patchbay-changes",
    });
    const over = new AbortController();
    client.on("notification", ({ payload = "" }) => heard(payload));
    client.on("error", (error) => over.abort(error));
    client.on("end", () => over.abort(new Error("the listening connection ended")));
    try {
      await client.connect();
      await client.query(`listen ${CHANGES_CHANNEL}`);
      await tellKeys(client, keyIds);
      first.resolve();
      isTold = false;
      // Nobody has remembered anything before the first time.
      if (!isFirst) missed();
      const signal = AbortSignal.any([closing.signal, over.signal]);
      while (await waited(PROBE_MS, signal)) await client.query("select 1");
      if (!closing.signal.aborted) throw over.signal.reason;
    } finally {
      await client.end().catch(() => undefined);
    }
  };

  const listening = (async () => {
    for (let tries = 0; !closing.signal.aborted; tries += 1) {
      await listenOnce(tries === 0).catch((error: unknown) => {
        if (!isTold) onError(error);
        isTold = true;
      });
      first.resolve();
      await waited(RETRY_MS, closing.signal);
    }
  })();
  await first.promise;
  return {
    close: async () => {
      closing.abort();
      await listening;
    },
  };
}

/** False when the signal came first. */
async function waited(ms: number, signal: AbortSignal): Promise<boolean> {
  try {
    await wait(ms, undefined, { signal, ref: false });
    return true;
  } catch {
    return false;
  }
}
