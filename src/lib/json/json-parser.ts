// Parses large foreign JSON in a worker thread with a limited heap, one text at a time, round-robin by owner. The result is transferred in pieces of a few
// milliseconds, so that hostile JSON can hurt neither the event loop nor the heap of the process.
import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from "node:worker_threads";
import { createRoundRobin, type Waiter } from "../concurrency/round-robin.ts";
import { yieldToEventLoop } from "../concurrency/run-cooperatively.ts";
import { measureJson } from "./json-meter.ts";
import { createJsonJoiner, type JsonPiece } from "./json-pieces.ts";
import { threadUrl } from "../thread-url.ts";

export interface JsonParser {
  /** Undefined: not JSON, or not parsable within the thread's memory and time. The blocks are transferred and unusable afterwards. */
  parse(blocks: readonly Uint8Array<ArrayBuffer>[], options: ParseOptions): Promise<{ readonly body: unknown }>;
  close(): Promise<void>;
}

interface ParseOptions {
  readonly owner: string;
  /** Aborts a text that waits. A text that is being parsed is parsed to its end. */
  readonly signal: AbortSignal;
}

/** The options of the worker thread. */
export interface ParserThread {
  readonly heapBytes: number;
}

export interface ParserTask {
  readonly blocks: readonly Uint8Array<ArrayBuffer>[];
  readonly port: MessagePort;
}

export type ParserAnswer = { readonly isJson: true; readonly pieces: number } | { readonly isJson: false };

export interface JsonParserOptions {
  readonly heapMebibytes?: number;
  /** Wall-clock time. The largest legitimate texts take two seconds. */
  readonly killAfterMs?: number;
  /** The thread ends after this idle time, which frees its memory. */
  readonly idleMs?: number;
}

/** Enough for the longest reply: 64 MiB at two bytes per character and two million values. Few need a tenth of it. */
const HEAP_MEBIBYTES = 512;
const KILL_AFTER_MS = 60_000;
const IDLE_MS = 5_000;
/** How long one step of joining pieces may block the event loop. */
const TURN_MS = 8;
const THREAD_URL = threadUrl(import.meta.url, "json-parser-thread");

interface Job extends Waiter {
  readonly blocks: readonly Uint8Array<ArrayBuffer>[];
  readonly result: PromiseWithResolvers<{ readonly body: unknown }>;
}

const NOT_PARSED = { body: undefined };

export function createJsonParser(options: JsonParserOptions = {}): JsonParser {
  const { heapMebibytes = HEAP_MEBIBYTES, killAfterMs = KILL_AFTER_MS, idleMs = IDLE_MS } = options;
  const waiting: Job[] = [];
  const turns = createRoundRobin();
  let worker: Worker | null = null;
  let isBusy = false;
  let idle: NodeJS.Timeout | undefined;
  let isClosed = false;

  const stopWorker = async (): Promise<void> => {
    const stopped = worker;
    worker = null;
    await stopped?.terminate();
  };

  const start = (): Worker => {
    const started = new Worker(THREAD_URL, {
      workerData: { heapBytes: heapMebibytes * 1024 * 1024 } satisfies ParserThread,
      env: {},
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: heapMebibytes, maxYoungGenerationSizeMb: 32 },
    });
    // The task that is running is rejected as well.
    const gone = (): void => {
      if (worker === started) worker = null;
    };
    started.on("error", gone).on("exit", gone);
    return started;
  };

  const runNext = (): void => {
    if (isBusy) return;
    const job = turns.next(waiting);
    if (job === undefined) {
      if (worker === null) return;
      worker.unref();
      idle = setTimeout(() => void stopWorker(), idleMs);
      idle.unref();
      return;
    }
    waiting.splice(waiting.indexOf(job), 1);
    clearTimeout(idle);
    isBusy = true;
    void run(job).finally(() => {
      isBusy = false;
      runNext();
    });
  };

  const run = async ({ blocks, result }: Job): Promise<void> => {
    const { port1: incoming, port2: outgoing } = new MessageChannel();
    try {
      worker ??= start();
      worker.ref();
      const answer = await ask(worker, { blocks, port: outgoing }, killAfterMs);
      // A thread that did not answer is not used again.
      if (answer === null) await stopWorker();
      result.resolve(answer?.isJson === true ? { body: await join(incoming, answer.pieces) } : NOT_PARSED);
    } catch (error) {
      result.reject(error);
    } finally {
      incoming.close();
    }
  };

  return {
    parse: async (blocks, { owner, signal }) => {
      if (isClosed) throw new Error("the parser is closed");
      signal.throwIfAborted();
      const job: Job = { owner, blocks, result: Promise.withResolvers() };
      const onAbort = (): void => {
        const at = waiting.indexOf(job);
        if (at >= 0) waiting.splice(at, 1);
        job.result.reject(signal.reason);
      };
      signal.addEventListener("abort", onAbort, { once: true });
      waiting.push(job);
      runNext();
      try {
        return await job.result.promise;
      } finally {
        signal.removeEventListener("abort", onAbort);
      }
    },
    close: async () => {
      isClosed = true;
      clearTimeout(idle);
      for (const { result } of waiting.splice(0)) result.resolve(NOT_PARSED);
      await stopWorker();
    },
  };
}

/** Longer texts take more than a few milliseconds to parse. */
const LIGHT_CHARACTERS = 256 * 1024;
const LIGHT_VALUES = 20_000;

/** Parses short text on this thread. Throws if it is not JSON. */
export async function parseText(parser: JsonParser, text: string, options: ParseOptions): Promise<unknown> {
  if (text.length <= LIGHT_CHARACTERS && measureJson(text, LIGHT_VALUES) === "light") return JSON.parse(text);
  const { body } = await parser.parse([new Uint8Array(Buffer.from(text))], options);
  if (body === undefined) throw new SyntaxError("the text is not JSON");
  return body;
}

/** For JSON that the gateway wrote itself. Long text is parsed in the worker, one at a time, so that many readers cost the memory of one. */
export async function parseOwn(parser: JsonParser, bytes: Uint8Array, owner: string): Promise<unknown> {
  if (bytes.length > LIGHT_CHARACTERS) {
    const { body } = await parser.parse([new Uint8Array(bytes)], { owner, signal: new AbortController().signal });
    if (body !== undefined) return body;
  }
  return JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8"));
}

/** Null: the thread ended or did not answer in time. */
function ask(worker: Worker, task: ParserTask, killAfterMs: number): Promise<ParserAnswer | null> {
  return new Promise((resolve) => {
    const settle = (answer: ParserAnswer | null): void => {
      clearTimeout(timer);
      worker.off("message", settle).off("exit", fail).off("error", fail);
      resolve(answer);
    };
    const fail = (): void => settle(null);
    const timer = setTimeout(fail, killAfterMs);
    worker.on("message", settle).on("exit", fail).on("error", fail);
    worker.postMessage(task, [...task.blocks.map(({ buffer }) => buffer), task.port]);
  });
}

/** Call after the last piece has arrived. */
async function join(port: MessagePort, count: number): Promise<unknown> {
  const joiner = createJsonJoiner();
  let beganMs = performance.now();
  for (let read = 0; read < count; read += 1) {
    const piece = receiveMessageOnPort(port);
    if (piece === undefined) throw new Error("a piece of parsed JSON is missing");
    joiner.add(piece.message as JsonPiece);
    if (performance.now() - beganMs < TURN_MS) continue;
    await yieldToEventLoop();
    beganMs = performance.now();
  }
  return joiner.value();
}
