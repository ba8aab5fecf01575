// Recognises the framing of a streamed reply by its first byte, whatever its content type says: events, JSON, or a page of HTML.
import { isEncoded } from "../lib/is-encoded.ts";
import { ProviderError, type WireStream } from "./io.ts";
import { failedReply, isErrorBody, kindOfUnended, parsedReply, readJsonReply } from "./read-reply.ts";

export type FramedReply =
  | { readonly framing: "events"; readonly stream: WireStream }
  /** One JSON value, the members of a JSON list, or one value a line. `isMarked`: `[DONE]` stood behind them. */
  | { readonly framing: "json"; readonly values: readonly unknown[]; readonly isMarked: boolean };

const MAX_REFUSAL_BYTES = 256 * 1024;
/** Parsed at once, in 10 ms. */
const MAX_JSON_BYTES = 2_000_000;
/** Read in one step. */
const MAX_LINES = 20_000;

/** A refusal by its status, or for an encoding that was not asked for, is thrown. Nothing of a success is read. */
export async function refuseStatus(stream: WireStream, credential: string | null): Promise<void> {
  const { status, headers } = stream;
  const isSuccess = status >= 200 && status <= 299;
  if (isSuccess && !isEncoded(headers)) return;
  const reply = { status, headers, text: await textOf(stream.body, MAX_REFUSAL_BYTES, { mayBreakOff: !isSuccess }) };
  if (!isSuccess) throw failedReply(reply, credential);
  readJsonReply(reply, credential);
}

/** Comes back when the first byte is there that says something. An error body is thrown. */
export async function readFraming(stream: WireStream, credential: string | null): Promise<FramedReply> {
  const iterator = stream.body[Symbol.asyncIterator]();
  const held: Uint8Array[] = [];
  let first: string | null = null;
  while (first === null) {
    const { done, value } = await iterator.next();
    if (done === true) break;
    held.push(...value);
    first = firstCharacter(held);
  }
  const body = resumed(held, iterator);
  if (first === "<") {
    const text = await textOf(body, MAX_REFUSAL_BYTES, { mayBreakOff: true });
    readJsonReply({ ...stream, text }, credential);
  }
  if (first !== "{" && first !== "[") return { framing: "events", stream: { ...stream, body } };
  const text = await textOf(body, MAX_JSON_BYTES, { mayBreakOff: false });
  return { framing: "json", ...jsonValues({ ...stream, text }, credential) };
}

function jsonValues(
  reply: Pick<WireStream, "status" | "headers"> & { readonly text: string },
  credential: string | null,
): { readonly values: readonly unknown[]; readonly isMarked: boolean } {
  const body = parsedReply(reply);
  const lines = body === undefined ? reply.text.split(/[\r\n]+/u).filter((line) => line.trim() !== "") : [];
  if (lines.length > MAX_LINES) throw new ProviderError("bad_reply", { reason: "too_many_values" });
  if (lines.length > 1) {
    const isMarked = lines.at(-1) === "[DONE]";
    const values = (isMarked ? lines.slice(0, -1) : lines).map((text) => parsedReply({ text }));
    if (values.includes(undefined)) throw new ProviderError(kindOfUnended(reply), { reason: "not_json" });
    return { values, isMarked };
  }
  if (Array.isArray(body) && !body.some(isErrorBody)) return { values: body, isMarked: false };
  const { body: value } = readJsonReply(
    Array.isArray(body) ? { ...reply, parsed: { body: body[0], sizeBytes: reply.text.length } } : reply,
    credential,
  );
  return { values: [value], isMarked: false };
}

/** Past white space and a byte order mark; null: not there yet. */
function firstCharacter(chunks: readonly Uint8Array[]): string | null {
  for (const chunk of chunks) for (const byte of chunk) if (!IGNORED_BYTES.has(byte)) return String.fromCharCode(byte);
  return null;
}

const IGNORED_BYTES: ReadonlySet<number> = new Set([0x20, 0x09, 0x0a, 0x0d, 0xef, 0xbb, 0xbf]);

/** What was read first, then the rest of the iterator. No generator: it would cost a turn for each chunk. */
function resumed(held: readonly Uint8Array[], rest: AsyncIterator<readonly Uint8Array[]>): WireStream["body"] {
  let next: readonly Uint8Array[] | null = held.length === 0 ? null : held;
  return {
    [Symbol.asyncIterator]: () => ({
      next: async () => {
        if (next === null) return rest.next();
        const value = next;
        next = null;
        return { done: false, value };
      },
      return: async () => (await rest.return?.()) ?? { done: true, value: undefined },
    }),
  };
}

/** The beginning of a refusal says enough, and one that breaks off is a refusal all the same. A success that does may have been paid for. */
async function textOf(
  body: WireStream["body"],
  maxBytes: number,
  { mayBreakOff }: { readonly mayBreakOff: boolean },
): Promise<string> {
  const chunks: Uint8Array[] = [];
  let sizeBytes = 0;
  try {
    for await (const come of body) {
      for (const chunk of come) {
        chunks.push(chunk);
        sizeBytes += chunk.byteLength;
      }
      if (sizeBytes > maxBytes) break;
    }
  } catch (error) {
    if (!mayBreakOff || (error instanceof ProviderError && error.kind === "aborted")) throw error;
  }
  return new TextDecoder().decode(Buffer.concat(chunks));
}
