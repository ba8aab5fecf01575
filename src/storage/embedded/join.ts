// Joins the embedded server of another process: waits until it accepts connections and returns its URL.
import { setTimeout as wait } from "node:timers/promises";
import { acceptsConnections } from "./accepts-connections.ts";
import { embeddedUrl } from "./server.ts";

const POLL_MS = 100;

export interface JoinOptions {
  readonly dataDir: string;
  /** Time for the server's owner to start, or to be replaced by another process. */
  readonly withinMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** Null: no server accepted a connection in time. */
export async function joinEmbeddedServer({ dataDir, withinMs, signal }: JoinOptions): Promise<string | null> {
  const deadlineMs = performance.now() + withinMs;
  for (;;) {
    const url = await embeddedUrl(dataDir);
    if (url !== null && (await acceptsConnections({ connectionString: url, application_name: "patchbay-join" })))
      return url;
    if (performance.now() >= deadlineMs) return null;
    await wait(POLL_MS, undefined, { signal });
  }
}
