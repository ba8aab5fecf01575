// Sends server-sent events with back-pressure [api.events-back-pressure] and a comment after every 15 s of silence, so that no proxy closes the
// connection [api.events-ping]. Stops when the client disconnects [api.events-end].
import { once } from "node:events";
import type { ServerResponse } from "node:http";
import type { Schedule } from "../body/body-rate.ts";

export interface ServerEvent {
  readonly event?: string;
  /** Sent as JSON. A string is sent unchanged, on one line. */
  readonly data: unknown;
}

/** One event, or several that arrived together. */
export type ServerEvents = ServerEvent | readonly ServerEvent[];

const PING_MS = 15_000;
const PING = ": ping\n\n";
/** Maximum size of one write for events that arrived together. The remaining ones wait for the reader, as single events would. */
const MAX_WRITE_CHARACTERS = 64 * 1024;

export interface SendEventsOptions {
  readonly headers: Readonly<Record<string, string>>;
  readonly clientGone: AbortSignal;
  readonly schedule: Schedule;
  /** Counts bytes that the client has not read yet, until the returned function is called. */
  readonly unread?: (bytes: number) => () => void;
  readonly startsWithPing?: boolean;
}

/** Resolves when the last event is written or the client has disconnected. Calls the iterator's `return` when stopped early. */
export async function sendEvents(
  response: ServerResponse,
  events: AsyncIterable<ServerEvents>,
  { headers, clientGone, schedule, startsWithPing = false, unread = () => () => undefined }: SendEventsOptions,
): Promise<void> {
  response.writeHead(200, {
    "cache-control": "no-store",
    // Stops proxies from buffering the events.
    "x-accel-buffering": "no",
    ...headers,
    "content-type": "text/event-stream; charset=utf-8",
  });
  if (startsWithPing) response.write(PING);
  const ping = keepAlive(response, schedule);
  const write = (text: string): boolean => {
    ping.wrote();
    return response.write(text);
  };
  const waitForDrain = async (): Promise<void> => {
    const markRead = unread(response.writableLength);
    try {
      await once(response, "drain", { signal: clientGone });
    } finally {
      markRead();
    }
  };
  try {
    for await (const arrival of events) {
      if (clientGone.aborted) return;
      // A HEAD request would otherwise wait for the end of a stream that may not have one.
      if (response.req.method === "HEAD") break;
      let text = "";
      for (const event of isSingleEvent(arrival) ? [arrival] : arrival) {
        text += eventText(event);
        if (text.length < MAX_WRITE_CHARACTERS) continue;
        if (!write(text)) await waitForDrain();
        text = "";
      }
      if (text !== "" && !write(text)) await waitForDrain();
    }
    response.end();
  } catch (error) {
    if (!clientGone.aborted) throw error;
  } finally {
    ping.stop();
    // The client has disconnected or the stream failed. Otherwise the connection would stay open with an unfinished response.
    if (!response.writableEnded) response.destroy();
  }
}

function isSingleEvent(events: ServerEvents): events is ServerEvent {
  return !Array.isArray(events);
}

export function eventText({ event, data }: ServerEvent): string {
  const text = typeof data === "string" ? data : JSON.stringify(data);
  return `${event === undefined ? "" : `event: ${event}\n`}data: ${text}\n\n`;
}

/** Sends a comment whenever nothing was written for the period. */
function keepAlive(response: ServerResponse, schedule: Schedule): { wrote(): void; stop(): void } {
  const ping = (): void => {
    if (!response.writableNeedDrain) response.write(PING);
    cancel = schedule(ping, PING_MS);
  };
  let cancel = schedule(ping, PING_MS);
  return {
    wrote: () => {
      cancel();
      cancel = schedule(ping, PING_MS);
    },
    stop: () => cancel(),
  };
}
