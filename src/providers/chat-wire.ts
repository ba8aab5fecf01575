// What the chat protocols have in common on the way out and back: JSON there, JSON or events here, and the guards that no
// adapter may be without: no finish, an error body under a success, an error among the events are failures (contract 7).
import { isEncoded } from "../lib/is-encoded.ts";
import { wholeBody } from "../lib/whole-body.ts";
import type { ChatEvent, ChatFinishReason, ChatPlan } from "./chat-provider.ts";
import { ProviderError, type StreamingIo, type WireRequest, type WireStream } from "./io.ts";
import { type Messages, readEvents } from "./read-events.ts";
import { eventBody, failedReply, type JsonReply, kindOfUnended, readJsonReply, requestIdOf } from "./read-reply.ts";

type Headers = Readonly<Record<string, string>>;

/**
 * Of a plain answer. The longest models write 128,000 tokens, of which the dearest script, each letter escaped, makes two and a half
 * million bytes.
 */
const MAX_ANSWER_BYTES = 8 * 1024 * 1024;

export async function sendChat(plan: ChatPlan, io: StreamingIo, headers: Headers): Promise<JsonReply> {
  const request = { ...wireRequest(plan, headers), maxReplyBytes: MAX_ANSWER_BYTES };
  return readJsonReply(await io.send(request), io.credential);
}

/** One protocol's way of reading its own events; it remembers what it has seen of one answer. */
export interface EventReader {
  /** May throw a `ProviderError`. */
  read(body: unknown): readonly ChatEvent[];
  /** null as long as the answer has no regular end. */
  finishReason(): ChatFinishReason | null;
}

interface ChatStreamOptions {
  readonly headers: Headers;
  /** The header in which the provider names the exchange; null: it has none. */
  readonly requestIdHeader: string | null;
  readonly reader: EventReader;
}

export async function* streamChat(
  plan: ChatPlan,
  io: StreamingIo,
  { headers, requestIdHeader, reader }: ChatStreamOptions,
): AsyncGenerator<readonly ChatEvent[]> {
  const stream = await io.open(wireRequest(plan, { ...headers, accept: "text/event-stream" }));
  await refuseFailure(stream, io.credential);
  const providerRequestId = requestIdHeader === null ? null : requestIdOf(stream.headers, requestIdHeader);
  yield [{ type: "open", providerRequestId }];
  try {
    for await (const come of readEvents(stream)) {
      const events: ChatEvent[] = [];
      let isOver: boolean;
      try {
        isOver = readTogether(come, reader, io.credential, events);
      } finally {
        if (events.length > 0) yield events;
      }
      if (isOver) break;
    }
  } catch (error) {
    // An answer with its end is whole, whatever comes behind it: a cut, or an error among the events.
    if (reader.finishReason() === null || !(error instanceof ProviderError)) throw error;
  }
  const reason = reader.finishReason();
  if (reason === null) throw new ProviderError(kindOfUnended(stream), { reason: "no_finish" });
  yield [{ type: "finish", reason }];
}

/** Into `events`, what came before a failure too. Whether the answer said that it is over. */
function readTogether(
  { messages, broken }: Messages,
  reader: EventReader,
  credential: string | null,
  events: ChatEvent[],
): boolean {
  for (const { data } of messages) {
    // OpenAI's end mark; the other protocols have none.
    if (data === "[DONE]") return true;
    // Not spread: one message may hold more than a call takes arguments.
    for (const event of reader.read(eventBody(data, credential, broken))) events.push(event);
  }
  return false;
}

function wireRequest(plan: ChatPlan, headers: Headers): WireRequest {
  const bytes = Buffer.from(JSON.stringify(plan.body));
  return {
    method: "POST",
    path: plan.path,
    query: plan.query,
    headers: { "content-type": "application/json", ...plan.headers, ...headers },
    body: wholeBody(bytes),
  };
}

const MAX_REFUSAL_BYTES = 256 * 1024;

export async function refuseFailure(stream: WireStream, credential: string | null): Promise<void> {
  const { status, headers } = stream;
  const isSuccess = status >= 200 && status <= 299;
  const contentType = headers["content-type"] ?? "";
  // Anything but these may be events under a careless name; if it is not, it has no finish.
  if (isSuccess && !isEncoded(headers) && !/^(application\/json|text\/html)\b/iu.test(contentType)) return;
  const mayBreakOff = !isSuccess || /^text\/html\b/iu.test(contentType);
  const reply = { status, headers, text: await textOf(stream.body, { mayBreakOff }) };
  if (!isSuccess) throw failedReply(reply, credential);
  readJsonReply(reply, credential);
  throw new ProviderError("bad_reply", { status, reason: "no_events" });
}

/** The beginning of a refusal says enough, and one that breaks off is a refusal all the same. A success that does may have been paid for. */
async function textOf(body: WireStream["body"], { mayBreakOff }: { readonly mayBreakOff: boolean }): Promise<string> {
  const chunks: Uint8Array[] = [];
  let sizeBytes = 0;
  try {
    for await (const come of body) {
      for (const chunk of come) {
        chunks.push(chunk);
        sizeBytes += chunk.byteLength;
      }
      if (sizeBytes > MAX_REFUSAL_BYTES) break;
    }
  } catch (error) {
    if (!mayBreakOff || (error instanceof ProviderError && error.kind === "aborted")) throw error;
  }
  return Buffer.concat(chunks).toString("utf8");
}
