// What everybody else notices of a trial: requests that need no provider, one after the other.
import { setTimeout as wait } from "node:timers/promises";
import { askHttp } from "../ask-http.ts";

const PROBE_MS = 100;

export interface Probes {
  /** How long each took, in milliseconds; for ever, when it was not served. */
  stop(): Promise<readonly number[]>;
}

export function keepProbing(origin: string, secret: string): Probes {
  const times: number[] = [];
  const over = new AbortController();
  const probing = (async () => {
    while (!over.signal.aborted) {
      const askedMs = performance.now();
      const question = { method: "GET", path: "/v1/me", headers: { authorization: `Bearer ${secret}` } };
      const { status } = await askHttp(origin, false, question);
      times.push(status === 200 ? performance.now() - askedMs : Number.POSITIVE_INFINITY);
      await wait(PROBE_MS);
    }
    return times;
  })();
  return {
    stop: () => {
      over.abort();
      return probing;
    },
  };
}

export function mebibytes(bytes: number): string {
  return `${(bytes / 1_048_576).toFixed(0)} MiB`;
}
