// Parses large foreign JSON in a worker thread with a limited heap, one text at a time, round-robin by owner. The result is transferred in pieces of a few
// milliseconds, so that hostile JSON can hurt neither the event loop nor the heap of the process.
import { MessageChannel, type MessagePort, receiveMessageOnPort } from "node:worker_threads";
import { createTaskThread } from "../concurrency/task-thread.ts";
import { createTickBudget } from "../concurrency/tick-budget.ts";
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
}

/** Enough for the longest reply: 64 MiB at two bytes per character and two million values. Few need a tenth of it. */
const HEAP_MEBIBYTES = 512;
const KILL_AFTER_MS = 60_000;
const THREAD_URL = threadUrl(import.meta.url, "json-parser-thread");

const NOT_PARSED = { body: undefined };

export function createJsonParser(options: JsonParserOptions = {}): JsonParser {
  const { heapMebibytes = HEAP_MEBIBYTES, killAfterMs = KILL_AFTER_MS } = options;
  const thread = createTaskThread<ParserTask, ParserAnswer>({
    url: THREAD_URL,
    workerData: { heapBytes: heapMebibytes * 1024 * 1024 } satisfies ParserThread,
    resourceLimits: { maxOldGenerationSizeMb: heapMebibytes, maxYoungGenerationSizeMb: 32 },
    killAfterMs,
  });
  return {
    parse: (blocks, run) =>
      thread.run(run, async (ask) => {
        const { port1: incoming, port2: outgoing } = new MessageChannel();
        try {
          const answer = await ask({ blocks, port: outgoing }, [...blocks.map(({ buffer }) => buffer), outgoing]);
          return answer?.isJson === true ? { body: await join(incoming, answer.pieces) } : NOT_PARSED;
        } finally {
          incoming.close();
        }
      }),
    close: () => thread.close(),
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

/** Call after the last piece has arrived. */
async function join(port: MessagePort, count: number): Promise<unknown> {
  const joiner = createJsonJoiner();
  const budget = createTickBudget();
  for (let read = 0; read < count; read += 1) {
    const piece = receiveMessageOnPort(port);
    if (piece === undefined) throw new Error("a piece of parsed JSON is missing");
    joiner.add(piece.message as JsonPiece);
    if (budget.isSpent()) await budget.renew();
  }
  return joiner.value();
}
