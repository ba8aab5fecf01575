// Sends chat requests and reads JSON or event-stream replies for all chat protocols. A missing finish, an error body in a success and an error event are
// failures [providers.stream-cut] [providers.stream-framing].
import { bufferedBody } from "../../lib/buffered-body.ts";
import type { ChatEvent, ChatPlan } from "../chat/chat-provider.ts";
import type { ChatEnding } from "../chat/finish-reasons.ts";
import { ProviderError, type StreamingIo, type WireRequest } from "../io.ts";
import { type Messages, readEvents } from "./read-events.ts";
import {
  eventBody,
  eventFailure,
  type JsonReply,
  incompleteReplyKind,
  readJsonReply,
  requestIdOf,
} from "./read-reply.ts";
import { readFraming, refuseStatus } from "./stream-framing.ts";

type Headers = Readonly<Record<string, string>>;

export async function sendChat(plan: ChatPlan, io: StreamingIo, headers: Headers): Promise<JsonReply> {
  return readJsonReply(await io.send(wireRequest(plan, headers)), io.credential);
}

/** Parses one protocol's events. Keeps the state of one answer. */
export interface EventReader {
  /** May throw a `ProviderError`. */
  read(body: unknown): readonly ChatEvent[];
  /** The model that this event reports. Null: none. */
  modelIn(body: unknown): string | null;
  /** Whether the answer is complete, so that truncation or an error after it is no failure. */
  isOver(): boolean;
  /** Called at the end of the stream. Null: the answer has no regular end. `isMarked`: the stream's end mark arrived. `rest`: events known only at the end. */
  end(isMarked: boolean): { readonly ending: ChatEnding; readonly rest: readonly ChatEvent[] } | null;
}

interface ChatStreamOptions {
  readonly headers: Headers;
  /** The header with the provider's request id. Null: there is none. */
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
  const read = createModelTracker(reader);
  let isMarked = false;
  if (framed.framing === "json") {
    ({ isMarked } = framed);
    const events = framed.values.flatMap((value) => readWhole(value, read, io.credential));
    if (events.length > 0) yield events;
    const waits = io.retain(lengthOf(events));
    if (waits !== undefined) await waits;
  } else {
    try {
      for await (const come of readEvents(framed.stream)) {
        const events: ChatEvent[] = [];
        try {
          isMarked = readTogether(come, read, io.credential, events);
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
  if (end === null) throw new ProviderError(incompleteReplyKind(stream), { reason: "no_finish" });
  const { reason, isUnknown } = end.ending;
  yield [...end.rest, { type: "finish", reason, ...(isUnknown ? { isUnknown } : {}) }];
}

type Read = EventReader["read"];

/** Puts the model before the content of the event that reports it, so that it can be judged first. */
function createModelTracker(reader: EventReader): Read {
  let last: string | null = null;
  return (body) => {
    const name = reader.modelIn(body);
    if (name === null || name === last) return reader.read(body);
    last = name;
    return [{ type: "model", name }, ...reader.read(body)];
  };
}

function readWhole(value: unknown, read: Read, credential: string | null): readonly ChatEvent[] {
  const failure = eventFailure(value, credential);
  if (failure !== null) throw failure;
  return read(value);
}

/** Characters of the answer that are kept in memory. */
function lengthOf(events: readonly ChatEvent[]): number {
  return events.reduce((sum, event) => sum + contentLength(event), 0);
}

function contentLength(event: ChatEvent): number {
  if (event.type === "text") return event.text.length;
  if (event.type === "reasoning") return event.reasoning.text.length;
  return event.type === "tool_call" ? event.arguments.length + (event.id ?? "").length : 0;
}

/** Appends to `events`, also those before a failure. Returns whether the end mark arrived. */
function readTogether(
  { messages, broken }: Messages,
  read: Read,
  credential: string | null,
  events: ChatEvent[],
): boolean {
  for (const { data } of messages) {
    // OpenAI's end mark. Other protocols have none.
    if (data === "[DONE]") return true;
    // Not spread: one message may contain more events than a call accepts arguments.
    for (const event of read(eventBody(data, credential, broken))) events.push(event);
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
