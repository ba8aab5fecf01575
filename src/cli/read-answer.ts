// Reads the body of an answer; a connection that breaks meanwhile is reported as such, with exit code 7.
import { mapAsyncIterable } from "../lib/concurrency/map-async-iterable.ts";
import { EXIT } from "./exit-codes.ts";
import { CliError } from "./terminal.ts";

export function readText(response: Response): Promise<string> {
  return response.text().catch(brokeOff);
}

export async function readBytes(response: Response): Promise<Uint8Array> {
  return new Uint8Array(await response.arrayBuffer().catch(brokeOff));
}

export function readBody(body: ReadableStream<Uint8Array>): AsyncIterable<Uint8Array> {
  return mapAsyncIterable(body, { each: (bytes) => bytes, mapError: brokeOff });
}

/** One message for all wordings of fetch. */
function brokeOff(): never {
  throw new CliError(EXIT.upstream, "The response ended early.");
}
