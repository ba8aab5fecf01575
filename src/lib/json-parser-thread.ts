// The thread that parses large JSON: bytes in, pieces out.
import { parentPort, workerData } from "node:worker_threads";
import { JsonMeter, VALUE_BYTES } from "./json-meter.ts";
import type { ParserAnswer, ParserTask, ParserThread } from "./json-parser.ts";
import { cutJson } from "./json-pieces.ts";

const port = parentPort;
if (port === null) throw new Error("this file is run as a thread");
const { heapBytes } = workerData as ParserThread;

port.on("message", ({ blocks, port: pieces }: ParserTask) => {
  const parsed = parse(blocks);
  for (const piece of parsed ?? []) pieces.postMessage(piece);
  port.postMessage(
    (parsed === null ? { isJson: false } : { isJson: true, pieces: parsed.length }) satisfies ParserAnswer,
  );
  pieces.close();
});

function parse(blocks: readonly Uint8Array[]): ReturnType<typeof cutJson> | null {
  if (!fits(blocks)) return null;
  try {
    // In one piece, or the parser would make it so.
    return cutJson(JSON.parse(Buffer.concat(blocks).toString("utf8")));
  } catch {
    return null;
  }
}

/** Characters take two bytes where one of them is no Latin letter, in the text and again in its values. */
const BYTES_OF_A_BYTE = 4;
const USABLE_HEAP = 0.9;

/**
 * Judged before it is parsed: inside JSON.parse V8 does not keep to the thread's limit, and takes the whole process with it where the heap
 * is full.
 */
function fits(blocks: readonly Uint8Array[]): boolean {
  const meter = new JsonMeter();
  let bytes = 0;
  for (const block of blocks) {
    meter.add(block);
    bytes += block.byteLength;
  }
  return !meter.isTooDeep && bytes * BYTES_OF_A_BYTE + meter.values * VALUE_BYTES <= heapBytes * USABLE_HEAP;
}
