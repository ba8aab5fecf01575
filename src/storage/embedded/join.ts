// Uses the embedded server that another process runs: waits until it accepts connections.
import { setTimeout as wait } from "node:timers/promises";
import { acceptsConnections } from "./accepts-connections.ts";
import { embeddedUrl } from "./server.ts";

const LOOK_MS = 100;

export interface JoinOptions {
  readonly dataDir: string;
  /** Its owner may still be starting, or be replaced by another. */
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
    await wait(LOOK_MS, undefined, { signal });
  }
}
