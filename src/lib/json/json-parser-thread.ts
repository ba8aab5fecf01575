// The worker thread of `json-parser.ts`: receives the bytes of large JSON, returns the parsed value in pieces.
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
    // As one buffer, because the parser needs one string anyway.
    return cutJson(JSON.parse(Buffer.concat(blocks).toString("utf8")));
  } catch {
    return null;
  }
}

/** A string takes two bytes per character if one character is not Latin-1, both in the text and in the parsed values. */
const BYTES_OF_A_BYTE = 4;
const USABLE_HEAP = 0.9;

/** Checked before parsing: inside JSON.parse V8 ignores the thread's heap limit and ends the whole process when the heap is full. */
function fits(blocks: readonly Uint8Array[]): boolean {
  const meter = new JsonMeter();
  let bytes = 0;
  for (const block of blocks) {
    meter.add(block);
    bytes += block.byteLength;
  }
  return !meter.isTooDeep && bytes * BYTES_OF_A_BYTE + meter.values * VALUE_BYTES <= heapBytes * USABLE_HEAP;
}
