// The embedded engine: PostgreSQL compiled to WebAssembly, on a thread of this process, in a directory or in memory. It is spoken to as a
// server is, in PostgreSQL's wire protocol, by the same driver.
import { access } from "node:fs/promises";
import { join } from "node:path";
import { Duplex } from "node:stream";
import { Worker } from "node:worker_threads";
import { freeBytes } from "../lib/free-bytes.ts";
import { threadUrl } from "../lib/thread-url.ts";
import { DataDirInUse, type DataDirLock, lockDataDir } from "./data-dir-lock.ts";
import type { EngineAnswer, EngineOptions, EngineQuestion } from "./pglite-thread.ts";

/** The engine's own folder in the data directory. */
export const EMBEDDED_FOLDER = "pglite";

/** Whether an engine has been started there before: looked at from outside, nothing is made. */
export async function holdsDatabase(dataDir: string): Promise<boolean> {
  return access(join(dataDir, EMBEDDED_FOLDER, "PG_VERSION")).then(
    () => true,
    () => false,
  );
}

export interface EmbeddedEngine {
  /** What the driver takes for a socket. There is one session, so one at a time. */
  readonly connect: () => Duplex;
  /** The data directory as a tar file, as `startInMemory` takes it. */
  readonly dump: () => Promise<Uint8Array<ArrayBuffer>>;
  readonly close: () => Promise<void>;
}

export interface DirectoryOptions {
  /** Of the directory, by whoever keeps it for what comes after, too. */
  readonly held?: DataDirLock | undefined;
  /** Told each time the engine failed, with what it failed with, and is started anew for the next who asks. */
  readonly onRestart?: ((why: Error) => void) | undefined;
}

/** An engine that fails fails who was asking it; the next who connects finds it started anew. */
export async function startInDirectory(
  dataDir: string,
  { held, onRestart }: DirectoryOptions = {},
): Promise<EmbeddedEngine> {
  let lock: DataDirLock = { release: async () => undefined };
  try {
    if (held === undefined) lock = await lockDataDir(dataDir);
    const engine = await start({ dataDir: join(dataDir, EMBEDDED_FOLDER), dump: null }, onRestart);
    return {
      ...engine,
      close: async () => {
        try {
          await engine.close();
        } finally {
          await lock.release();
        }
      },
    };
  } catch (error) {
    await lock.release();
    if (error instanceof DataDirInUse) throw error;
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(`${why} (in ${dataDir}${await roomIn(dataDir)})`, { cause: error });
  }
}

/** The log alone takes files of 16 MiB each. */
const LITTLE_ROOM_BYTES = 64 * 1024 * 1024;

/** The engine itself does not say that it found none. */
async function roomIn(dataDir: string): Promise<string> {
  const free = await freeBytes(dataDir).catch(() => Number.POSITIVE_INFINITY);
  return free < LITTLE_ROOM_BYTES ? `, where only ${Math.floor(free / (1024 * 1024))} MiB are free` : "";
}

/** Gone with the process; `dump` is a data directory as the engine gives it. */
export async function startInMemory(dump: Uint8Array<ArrayBuffer> | null = null): Promise<EmbeddedEngine> {
  return start({ dataDir: null, dump });
}

async function start(options: EngineOptions, onRestart?: (why: Error) => void): Promise<EmbeddedEngine> {
  let thread = startThread(options);
  await thread.started;
  let closing: Promise<unknown> | null = null;
  /** Until which one is not started that just could not be. */
  let restUntilMs = 0;
  /** Each session has the thread it began with: on another it would be a stranger. */
  const living = (): Thread => {
    const why = thread.ended();
    // What was in memory is lost; in a directory PostgreSQL finds all that was committed.
    if (why === null || options.dataDir === null || closing !== null || performance.now() < restUntilMs) return thread;
    onRestart?.(why);
    thread = startThread({ ...options, isThere: true });
    thread.started.catch(() => {
      restUntilMs = performance.now() + REST_MS;
    });
    return thread;
  };
  return {
    connect: () => living().connect(),
    dump: () => living().ask("dump"),
    close: async () => {
      closing ??= thread.close();
      await closing;
    },
  };
}

/** Starting costs a second of processor time, and whoever failed is asked again at once by everybody. */
const REST_MS = 1_000;

type Ask = (question: EngineQuestion) => Promise<Uint8Array<ArrayBuffer>>;

const THREAD_URL = threadUrl(import.meta.url, "pglite-thread");

interface Thread {
  readonly started: Promise<unknown>;
  readonly ask: Ask;
  /** A session ends with its thread, also one that asks nothing at the moment. */
  readonly connect: () => SessionStream;
  /** Why; null while it works. */
  readonly ended: () => Error | null;
  /** One that has ended is closed. */
  readonly close: () => Promise<unknown>;
}

/** PostgreSQL finds its stack at an end before this one is (`max_stack_depth`), and tells it as an error; with Node's 4 MB it does not. */
const STACK_SIZE_MB = 16;

function startThread(options: EngineOptions): Thread {
  const worker = new Worker(THREAD_URL, { workerData: options, resourceLimits: { stackSizeMb: STACK_SIZE_MB } });
  const waiting: PromiseWithResolvers<Uint8Array<ArrayBuffer>>[] = [];
  const sessions = new Set<SessionStream>();
  let ended: Error | null = null;
  const expected = (): Promise<Uint8Array<ArrayBuffer>> => {
    const answer = Promise.withResolvers<Uint8Array<ArrayBuffer>>();
    waiting.push(answer);
    // It holds the process only while somebody waits for it.
    if (waiting.length === 1) worker.ref();
    return answer.promise;
  };
  let why: Error | null = null;
  const end = (): void => {
    ended ??= why ?? new Error("the embedded database has ended");
    for (const each of waiting.splice(0)) each.reject(ended);
    for (const session of sessions) session.destroy(ended);
  };
  worker.on("message", (answer: EngineAnswer) => {
    // Told when the thread is gone: whoever asks again then finds it so.
    if ("last" in answer) {
      why = answer.last;
      return;
    }
    const next = waiting.shift();
    if (waiting.length === 0) worker.unref();
    if ("fault" in answer) next?.reject(answer.fault);
    else next?.resolve(answer);
  });
  worker.on("error", (error: Error) => {
    why = new Error(`the embedded database failed: ${error.message}`, { cause: error });
  });
  worker.on("exit", end);
  const ask: Ask = async (question) => {
    if (ended !== null) throw ended;
    const answer = expected();
    worker.postMessage(question, typeof question === "string" ? [] : [question.buffer]);
    return answer;
  };
  const connect = (): SessionStream => {
    const session = new SessionStream(ask);
    if (ended === null) sessions.add(session);
    return session.once("close", () => sessions.delete(session));
  };
  const close = () =>
    ask("close").catch((error: unknown) => {
      if (ended === null) throw error;
    });
  return { started: expected(), ask, connect, ended: () => ended, close };
}

/** A socket for the driver: what is written is asked of the engine, and what the engine answers can be read. */
class SessionStream extends Duplex {
  readonly #ask: Ask;
  #unsent: Buffer[] = [];

  constructor(ask: Ask) {
    super();
    this.#ask = ask;
  }

  connect(): this {
    process.nextTick(() => this.emit("connect"));
    return this;
  }

  /** Of a socket's face, as the driver calls it; there is no network here. */
  setNoDelay(): this {
    return this;
  }

  setKeepAlive(): this {
    return this;
  }

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }

  override _read(): void {
    // The engine answers when it is asked, not when it is read.
  }

  override _write(chunk: Buffer, _encoding: string, written: () => void): void {
    this.#unsent.push(chunk);
    // What is said in one go is one question: a trip to the thread costs more than most statements.
    if (this.#unsent.length === 1) process.nextTick(() => void this.#send());
    written();
  }

  override _final(ended: () => void): void {
    this.push(null);
    ended();
  }

  async #send(): Promise<void> {
    // In memory of its own, which can be given away.
    const question = new Uint8Array(Buffer.concat(this.#unsent));
    this.#unsent = [];
    try {
      const answer = await this.#ask(question);
      if (answer.length > 0 && !this.destroyed) this.push(Buffer.from(answer.buffer));
    } catch (error) {
      this.destroy(error instanceof Error ? error : new Error("the embedded database failed", { cause: error }));
    }
  }
}
