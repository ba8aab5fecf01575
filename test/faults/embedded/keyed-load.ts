// A steady load of keyed transcriptions, chats and jobs through every restart, from clients that follow the retry instructions of the answers.
import { setTimeout as wait } from "node:timers/promises";
import { type Ended, KINDS, submit } from "../failover/keyed-client.ts";

export interface KeyedLoad {
  /** Starts no more; resolves when each has its final answer. */
  end(): Promise<readonly Ended[]>;
}

export interface KeyedLoadOptions {
  /** Read at each attempt. */
  readonly origins: readonly string[];
  readonly secret: string;
  readonly random: () => number;
  readonly seed: number;
}

const PACE_MS = 125;
const MOST_IN_FLIGHT = 100;
/** The key of a dead process is free after 30 s, and the gateway may die again meanwhile. */
const LONGEST_MS = 240_000;
const IMPATIENT_SHARE = 0.5;

export function startKeyedLoad({ origins, secret, random, seed }: KeyedLoadOptions): KeyedLoad {
  const running = new Set<Promise<Ended>>();
  const all: Promise<Ended>[] = [];
  const stopping = new AbortController();
  const begin = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      if (running.size < MOST_IN_FLIGHT) {
        const index = all.length;
        const submission = {
          kind: KINDS[index % KINDS.length] ?? "transcription",
          name: `kills-${seed}-${index}-end`,
          isImpatient: random() < IMPATIENT_SHARE,
        };
        const one = submit(origins, secret, submission, 0, LONGEST_MS);
        all.push(one);
        running.add(one);
        void one.finally(() => running.delete(one));
      }
      await wait(PACE_MS, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
  };
  const pendingAnswer = begin();
  return {
    end: async () => {
      stopping.abort();
      await pendingAnswer;
      return Promise.all(all);
    },
  };
}
