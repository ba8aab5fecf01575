// Detects the framing of a streamed reply by its first byte, whatever its content type: events, JSON, or an HTML page.
import { isEncoded } from "../../lib/is-encoded.ts";
import { ProviderError, type WireStream } from "../io.ts";
import { failedReply, isErrorBody, incompleteReplyKind, parsedReply, readJsonReply } from "./read-reply.ts";

export type FramedReply =
  | { readonly framing: "events"; readonly stream: WireStream }
  /** One JSON value, the members of a JSON list, or one value per line. `isMarked`: followed by `[DONE]`. */
  | { readonly framing: "json"; readonly values: readonly unknown[]; readonly isMarked: boolean };

const MAX_REFUSAL_BYTES = 256 * 1024;
/** Parsed in one step, in 10 ms. */
const MAX_JSON_BYTES = 2_000_000;
/** Most lines read in one step. */
const MAX_LINES = 20_000;

/** Throws a refusal by its status, or for a content encoding that was not requested. Does not read a successful body. */
export async function refuseStatus(stream: WireStream, credential: string | null): Promise<void> {
  const { status, headers } = stream;
  const isSuccess = status >= 200 && status <= 299;
  if (isSuccess && !isEncoded(headers)) return;
  const reply = { status, headers, text: await textOf(stream.body, MAX_REFUSAL_BYTES, { mayBreakOff: !isSuccess }) };
  if (!isSuccess) throw failedReply(reply, credential);
  readJsonReply(reply, credential);
}

/** Resolves at the first byte that determines the framing. An error body is thrown. */
export async function readFraming(stream: WireStream, credential: string | null): Promise<FramedReply> {
  const iterator = stream.body[Symbol.asyncIterator]();
  const buffered: Uint8Array[] = [];
  let first: string | null = null;
  while (first === null) {
    const { done, value } = await iterator.next();
    if (done === true) break;
    buffered.push(...value);
    first = firstCharacter(buffered);
  }
  const body = resume(buffered, iterator);
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
    if (values.includes(undefined)) throw new ProviderError(incompleteReplyKind(reply), { reason: "not_json" });
    return { values, isMarked };
  }
  if (Array.isArray(body) && !body.some(isErrorBody)) return { values: body, isMarked: false };
  const { body: value } = readJsonReply(
    Array.isArray(body) ? { ...reply, parsed: { body: body[0], sizeBytes: reply.text.length } } : reply,
    credential,
  );
  return { values: [value], isMarked: false };
}

/** Skips white space and a byte order mark. Null: not received yet. */
function firstCharacter(chunks: readonly Uint8Array[]): string | null {
  for (const chunk of chunks) for (const byte of chunk) if (!IGNORED_BYTES.has(byte)) return String.fromCharCode(byte);
  return null;
}

const IGNORED_BYTES: ReadonlySet<number> = new Set([0x20, 0x09, 0x0a, 0x0d, 0xef, 0xbb, 0xbf]);

/** The buffered chunks, then the rest of the iterator. Not a generator, which would cost a microtask per chunk. */
function resume(buffered: readonly Uint8Array[], rest: AsyncIterator<readonly Uint8Array[]>): WireStream["body"] {
  let next: readonly Uint8Array[] | null = buffered.length === 0 ? null : buffered;
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

/** The beginning of a refusal is enough, even a truncated one. A truncated success may have been billed. */
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
