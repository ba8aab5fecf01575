// Dispatches a queue's messages to a limited number of handlers, in total and per group, so that an app with ten thousand jobs leaves
// room for other apps [jobs.fairness]. Unlike pg-boss's own workers, which fetch once per poll, it fetches as long as it has free slots.
import { setTimeout as wait } from "node:timers/promises";
import type { Db, Job, PgBoss } from "pg-boss";
import { createBatcher } from "../lib/concurrency/batcher.ts";
import { createWaitGroup } from "../lib/concurrency/wait-group.ts";
import { createBacklog } from "./backlog.ts";
import { createDueWakes } from "./due-wakes.ts";
import { type Fetches, fetchNext } from "./fetch-next.ts";
import { createGroupOrder } from "./round-robin-groups.ts";
import { createSlots, hasRoomFor, type Occupant } from "./slots.ts";

export interface Message {
  readonly data: unknown;
  /** Aborts when the process stops and its grace period has ended. */
  readonly signal: AbortSignal;
  /** Frees the handler's slot for another message before the handler ends. */
  readonly freeSlot: () => void;
}

/** Begin or release it. A stop waits for either. */
export interface ReservedSlot {
  begin(work: (message: Omit<Message, "data">) => Promise<void>): void;
  release(): void;
}

export interface WorkOptions {
  /** Handlers at once in this process. */
  readonly concurrency: number;
  /** Handlers of one group at once in this process. Groups are then served round-robin; without it, messages are served by age alone. */
  readonly perGroup?: number;
  /** Longest delay before polling notices a deferred message, or one with a lost notification. */
  readonly pollMs?: number;
  /** If it throws, the message is retried as its queue allows. */
  readonly handler: (message: Message) => Promise<void>;
}

export interface Dispatcher {
  wake(): void;
  /** A slot for work of this process that needs no message. Null: there is none for the group, or messages may be waiting, which go first. */
  reserve(group: string): ReservedSlot | null;
  /** Fetches again after so many seconds, when a deferred message is due. */
  wakeAfter(seconds: number): void;
  /** Stops fetching. Running handlers continue. */
  drain(): void;
  stop(graceMs: number): Promise<void>;
}

interface DispatcherOptions extends WorkOptions {
  readonly boss: Pick<PgBoss, "fetch" | "complete" | "fail" | "touch">;
  /** For fetches and completions. */
  readonly db: Db;
  readonly name: string;
  readonly heartbeatSeconds: number | null;
  readonly onError: (error: unknown) => void;
}

const POLL_MS = 2_000;
/** In one statement. */
const MAX_COMPLETED = 500;

export function startDispatcher(options: DispatcherOptions): Dispatcher {
  const { boss, name, onError, concurrency, perGroup = concurrency, pollMs = POLL_MS } = options;
  const aborter = new AbortController();
  const slots = createSlots({ concurrency, perGroup, onError, onFree: () => startFetching() });
  const turns = createGroupOrder();
  const state = { isStopping: false, isFetchWanted: false };
  const backlog = createBacklog();
  const fetches: Fetches = { ...options, backlog, turns, slots, start: (job) => occupy(job, job, () => handle(job)) };
  let fetching: Promise<void> | null = null;
  const completion = createCompletion(options);

  const fetchMessages = async (): Promise<void> => {
    while (state.isFetchWanted && !state.isStopping) {
      state.isFetchWanted = false;
      for (let room = slots.room(); room.slots > 0 && !state.isStopping; room = slots.room()) {
        if (!(await fetchNext(fetches, room))) break;
      }
    }
  };
  const wake = (): void => {
    turns.news();
    backlog.news();
    startFetching();
  };
  const startFetching = (): void => {
    // Whatever comes after the last fetch is announced, or found by a poll.
    if (backlog.isEmpty()) return;
    state.isFetchWanted = true;
    if (state.isStopping) return;
    fetching ??= fetchMessages()
      .catch(onError)
      .finally(() => {
        fetching = null;
        // A wake may have come after the loop's last check.
        if (state.isFetchWanted && !state.isStopping) setImmediate(startFetching);
      });
  };

  const occupy = (occupant: Occupant, job: Job<unknown> | null, work: () => Promise<void>): void => {
    slots.occupy(occupant, job, work);
    turns.took(occupant.groupId ?? null);
  };

  const handle = async (job: Job<unknown>): Promise<void> => {
    try {
      await options.handler({ data: job.data, signal: aborter.signal, freeSlot: () => slots.free(job) });
    } catch (error) {
      onError(error);
      // The error is not stored, because it may contain a caller's data.
      await boss.fail(name, job, null);
      backlog.news();
      return;
    }
    completion.begin(job);
  };

  const timer = setInterval(wake, pollMs);
  timer.unref();
  const dueWakes = createDueWakes(wake);
  const heartbeat = startHeartbeat(options, () => slots.messages());
  wake();
  const drain = (): void => {
    state.isStopping = true;
    clearInterval(timer);
    dueWakes.stop();
  };
  const reserve = (groupId: string): ReservedSlot | null => {
    if (state.isStopping || !backlog.isEmpty() || !hasRoomFor(slots.room(), groupId)) return null;
    const occupant: Occupant = { groupId };
    const work = Promise.withResolvers<void>();
    occupy(occupant, null, () => work.promise);
    return {
      begin: (run) => work.resolve(run({ signal: aborter.signal, freeSlot: () => slots.free(occupant) })),
      release: () => work.resolve(),
    };
  };
  return {
    wake,
    reserve,
    wakeAfter: (seconds) => {
      if (!state.isStopping) dueWakes.after(seconds);
    },
    drain,
    async stop(graceMs) {
      drain();
      await fetching;
      const finished = slots.finished();
      const graceOver = new AbortController();
      await Promise.race([
        finished,
        wait(graceMs, undefined, { signal: graceOver.signal, ref: false }).catch(() => undefined),
      ]);
      graceOver.abort();
      aborter.abort();
      await finished;
      await completion.done();
      clearInterval(heartbeat);
    },
  };
}

/** Completes messages whose handlers have ended. They occupy no slot. */
function createCompletion({ boss, db, name, onError }: DispatcherOptions) {
  const running = createWaitGroup();
  const complete = createBatcher<Job<unknown>, null>(
    async (jobs) => {
      await boss.complete(name, [...jobs], null, { db });
      return jobs.map(() => null);
    },
    { maxItems: MAX_COMPLETED, isItemFault: () => false },
  );
  return {
    begin: (job: Job<unknown>) => running.add(complete(job).catch(onError)),
    done: () => running.done(),
  };
}

/** Sends three heartbeats per heartbeat interval, after which pg-boss would consider the worker dead. */
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
