// What the chat protocols have in common on the way out and back: JSON there, JSON or events here, and the checks that every adapter
// needs: no finish, an error body under a success, an error among the events are failures [providers.stream-cut] [providers.stream-framing].
import { bufferedBody } from "../lib/buffered-body.ts";
import type { ChatEvent, ChatPlan } from "./chat-provider.ts";
import type { ChatEnding } from "./finish-reasons.ts";
import { ProviderError, type StreamingIo, type WireRequest } from "./io.ts";
import { type Messages, readEvents } from "./read-events.ts";
import { eventBody, eventFailure, type JsonReply, kindOfUnended, readJsonReply, requestIdOf } from "./read-reply.ts";
import { readFraming, refuseStatus } from "./stream-framing.ts";

type Headers = Readonly<Record<string, string>>;

export async function sendChat(plan: ChatPlan, io: StreamingIo, headers: Headers): Promise<JsonReply> {
  return readJsonReply(await io.send(wireRequest(plan, headers)), io.credential);
}

/** One protocol's way of reading its own events; it remembers what it has seen of one answer. */
export interface EventReader {
  /** May throw a `ProviderError`. */
  read(body: unknown): readonly ChatEvent[];
  /** Whether the answer has its end, so that what comes behind it, a cut or an error, is no failure of it. */
  isOver(): boolean;
  /**
   * When nothing more comes: null where the answer has no regular end. `isMarked`: the end mark of the stream came. `rest`: what was to
   * be seen at the end only.
   */
  end(isMarked: boolean): { readonly ending: ChatEnding; readonly rest: readonly ChatEvent[] } | null;
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
  await refuseStatus(stream, io.credential);
  const providerRequestId = requestIdHeader === null ? null : requestIdOf(stream.headers, requestIdHeader);
  yield [{ type: "open", providerRequestId }];
  const framed = await readFraming(stream, io.credential);
  let isMarked = false;
  if (framed.framing === "json") {
    ({ isMarked } = framed);
    const events = framed.values.flatMap((value) => readWhole(value, reader, io.credential));
    if (events.length > 0) yield events;
    const waits = io.retain(lengthOf(events));
    if (waits !== undefined) await waits;
  } else {
    try {
      for await (const come of readEvents(framed.stream)) {
        const events: ChatEvent[] = [];
        try {
          isMarked = readTogether(come, reader, io.credential, events);
        } finally {
          if (events.length > 0) yield events;
        }
        const waits = io.retain(lengthOf(events));
        if (waits !== undefined) await waits;
        if (isMarked) break;
      }
    } catch (error) {
      if (!reader.isOver() || !(error instanceof ProviderError)) throw error;
    }
  }
  const end = reader.end(isMarked);
  if (end === null) throw new ProviderError(kindOfUnended(stream), { reason: "no_finish" });
  const { reason, isUnknown } = end.ending;
  yield [...end.rest, { type: "finish", reason, ...(isUnknown ? { isUnknown } : {}) }];
}

function readWhole(value: unknown, reader: EventReader, credential: string | null): readonly ChatEvent[] {
  const failure = eventFailure(value, credential);
  if (failure !== null) throw failure;
  return reader.read(value);
}

/** Characters that the answer retains. */
function lengthOf(events: readonly ChatEvent[]): number {
  return events.reduce((sum, event) => sum + contentLength(event), 0);
}

function contentLength(event: ChatEvent): number {
  if (event.type === "text") return event.text.length;
  if (event.type === "reasoning") return event.reasoning.text.length;
  return event.type === "tool_call" ? event.arguments.length + (event.id ?? "").length : 0;
}

/** Into `events`, what came before a failure too. Whether the end mark came. */
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
    body: bufferedBody(bytes),
  };
}
