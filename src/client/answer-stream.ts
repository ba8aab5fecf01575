// A streamed answer [client.stream-events]: yields events as they arrive, up to the one that contains the whole answer.
import { type ClientReply, answerWithin, type Call, connectionError, deadlineOf } from "./call.ts";
import type { ClientConfiguration } from "./configuration.ts";
import type { Deadline } from "./deadline.ts";
import { PatchbayError } from "./errors.ts";
import { readEvents } from "./read-events.ts";
import { streamedError, unexpectedReply } from "./read-refusal.ts";

export interface AnswerStream<Event> extends AsyncIterable<Event> {
  /** Resolves once the first event arrives; `data` are the events. */
  withResponse(): Promise<ClientReply<AsyncIterable<Event>>>;
}

export interface StreamedEvent {
  readonly event: string;
  readonly data: unknown;
}

/** Sends the request when the first event is read. Leaving the loop aborts the request and its work. */
export function answerStream<Event extends StreamedEvent>(
  configuration: ClientConfiguration,
  makeCall: () => Promise<Call>,
  completed: Event["event"],
): AnswerStream<Event> {
  let stream: Promise<OpenStream> | undefined;
  const open = () => (stream ??= openStream(configuration, makeCall));
  return {
    [Symbol.asyncIterator]: () => eventsOf<Event>(open, completed),
    async withResponse() {
      const { answer } = await open();
      const data = { [Symbol.asyncIterator]: () => eventsOf<Event>(open, completed) };
      return { ...answer, data };
    },
  };
}

interface OpenStream {
  readonly call: Call;
  readonly deadline: Deadline;
  readonly answer: ClientReply<ReadableStream<Uint8Array>>;
}

async function openStream(configuration: ClientConfiguration, makeCall: () => Promise<Call>): Promise<OpenStream> {
  const call = await makeCall();
  const deadline = deadlineOf(configuration, call);
  try {
    const answer = await answerWithin(configuration, call, deadline, async (response) => {
      const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") === true;
      if (isStream && response.body !== null) return response.body;
      throw new PatchbayError({ ...unexpectedReply(response), retryable: false });
    });
    return { call, deadline, answer };
  } catch (error) {
    deadline.close();
    throw error;
  }
}

async function* eventsOf<Event extends StreamedEvent>(
  open: () => Promise<OpenStream>,
  completed: Event["event"],
): AsyncGenerator<Event, void, undefined> {
  const { call, deadline, answer } = await open();
  const { requestId } = answer;
  if (answer.data.locked)
    throw new TypeError("The events of a stream can be read once; call again for another answer.");
  try {
    for await (const { event, data } of readEvents(answer.data)) {
      if (event === "error") throw streamedError(data, requestId);
      // Not validated: the gateway follows its contract.
      yield { event, data: JSON.parse(data) as unknown } as Event;
      if (event === completed) return;
    }
    throw connectionError(call, "STREAM_INCOMPLETE", "The stream ended before the response was complete.", {
      requestId,
    });
  } catch (error) {
    if (deadline.signal.aborted) throw deadline.signal.reason;
    if (error instanceof PatchbayError) throw error;
    const message = "The connection failed in the middle of the stream.";
    throw connectionError(call, "CONNECTION_FAILED", message, { requestId, cause: error });
  } finally {
    deadline.close();
  }
}
