// Dispatches a queue's messages to a limited number of handlers in total and per group: an app with ten thousand jobs leaves room for
// another's [jobs.fairness]. A free slot goes first to a group that has none and had no turn yet, whatever the age of the others'
// messages. pg-boss's own workers fetch one message a poll; this fetches as long as there is room.
import { setTimeout as wait } from "node:timers/promises";
import type { Job, PgBoss } from "pg-boss";
import { createDueWakes } from "./due-wakes.ts";
import { createTurns } from "./turns.ts";

export interface Message {
  readonly data: unknown;
  /** Aborts when the process stops and the grace is over. */
  readonly signal: AbortSignal;
}

export interface WorkOptions {
  /** At once in this process. */
  readonly concurrency: number;
  /** Of one group at once in this process, and groups take turns; absent: all, in the order of their age. */
  readonly perGroup?: number;
  /** How late a deferred message, or one whose notification was lost, may be noticed. */
  readonly pollMs?: number;
  /** A throw brings the message again, as its queue allows. */
  readonly handler: (message: Message) => Promise<void>;
}

export interface Dispatcher {
  wake(): void;
  /** Looks for a message that was deferred by so many seconds when it is due. */
  wakeAfter(seconds: number): void;
  /** Takes nothing new. */
  drain(): void;
  stop(graceMs: number): Promise<void>;
}

interface DispatcherOptions extends WorkOptions {
  readonly boss: Pick<PgBoss, "fetch" | "complete" | "fail" | "touch">;
  readonly name: string;
  readonly heartbeatSeconds: number | null;
  readonly onError: (error: unknown) => void;
}

const POLL_MS = 2_000;

export function startDispatcher(options: DispatcherOptions): Dispatcher {
  const { boss, name, onError, concurrency, perGroup = concurrency, pollMs = POLL_MS } = options;
  const aborter = new AbortController();
  const running = new Map<Promise<void>, Job<unknown>>();
  const turns = createTurns();
  const state = { stopping: false, wanted: false };
  let turning: Promise<void> | null = null;

  const turn = async (): Promise<void> => {
    while (state.wanted && !state.stopping) {
      state.wanted = false;
      for (let room = roomNow(); room.slots > 0 && !state.stopping; room = roomNow()) {
        const isTurn = options.perGroup !== undefined && turns.isOpen();
        const jobs = await boss.fetch<unknown>(name, {
          batchSize: isTurn ? 1 : room.slots,
          ignoreGroups: isTurn ? turns.had(room.busyGroups) : room.fullGroups,
        });
        for (const job of jobs) take(job);
        if (isTurn && jobs.length === 0) turns.end(room.busyGroups);
        else if (jobs.length < (isTurn ? 1 : room.slots)) break;
      }
    }
  };
  const wake = (): void => {
    turns.news();
    turnAgain();
  };
  const turnAgain = (): void => {
    state.wanted = true;
    if (state.stopping) return;
    turning ??= turn()
      .catch(onError)
      .finally(() => {
        turning = null;
        // A wake between the last look and here.
        if (state.wanted && !state.stopping) setImmediate(turnAgain);
      });
  };

  /** So many may be fetched at once whatever their groups: no group can then have more than its share. */
  const roomNow = (): { readonly slots: number; readonly busyGroups: string[]; readonly fullGroups: string[] } => {
    const counts = new Map<string, number>();
    for (const { groupId = null } of running.values())
      if (groupId !== null) counts.set(groupId, (counts.get(groupId) ?? 0) + 1);
    const fullGroups = [...counts].filter(([, count]) => count >= perGroup).map(([group]) => group);
    const headroom = [...counts.values()].filter((count) => count < perGroup).map((count) => perGroup - count);
    return {
      slots: Math.min(concurrency - running.size, perGroup, ...headroom),
      busyGroups: [...counts.keys()],
      fullGroups,
    };
  };

  const take = (job: Job<unknown>): void => {
    const work: Promise<void> = handle(job)
      .catch(onError)
      .finally(() => {
        running.delete(work);
        turnAgain();
      });
    running.set(work, job);
    turns.took(job.groupId ?? null);
  };

  const handle = async (job: Job<unknown>): Promise<void> => {
    try {
      await options.handler({ data: job.data, signal: aborter.signal });
    } catch (error) {
      onError(error);
      // Nothing of the error is kept: it may speak of a caller's data.
      await boss.fail(name, job, null);
      return;
    }
    await boss.complete(name, job);
  };

  const timer = setInterval(wake, pollMs);
  timer.unref();
  const dueWakes = createDueWakes(wake);
  const heartbeat = startHeartbeat(options, () => [...running.values()]);
  wake();
  const drain = (): void => {
    state.stopping = true;
    clearInterval(timer);
    dueWakes.stop();
  };
  return {
    wake,
    wakeAfter: (seconds) => {
      if (!state.stopping) dueWakes.after(seconds);
    },
    drain,
    async stop(graceMs) {
      drain();
      await turning;
      const finished = Promise.all(running.keys());
      const graceOver = new AbortController();
      await Promise.race([
        finished,
        wait(graceMs, undefined, { signal: graceOver.signal, ref: false }).catch(() => undefined),
      ]);
      graceOver.abort();
      aborter.abort();
      await finished;
      clearInterval(heartbeat);
    },
  };
}

/** Three in the time after which silence means death. */
function startHeartbeat(
  { boss, name, heartbeatSeconds, onError }: DispatcherOptions,
  running: () => Job<unknown>[],
): NodeJS.Timeout | undefined {
  if (heartbeatSeconds === null) return undefined;
  const timer = setInterval(
    () => {
      const jobs = running();
      if (jobs.length > 0) boss.touch(name, jobs).catch(onError);
    },
    (heartbeatSeconds * 1000) / 3,
  );
  timer.unref();
  return timer;
}
