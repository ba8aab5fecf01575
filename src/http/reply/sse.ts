// Server-sent events as a reply: event by event, no faster than the caller reads [api.events-back-pressure], a comment every 15 s of
// silence so that no proxy takes the connection for dead [api.events-ping], and an end as soon as the caller is gone [api.events-end].
import { once } from "node:events";
import type { ServerResponse } from "node:http";
import type { Schedule } from "../body/body-rate.ts";

export interface ServerEvent {
  readonly event?: string;
  /** Sent as JSON; a string as it stands, on one line. */
  readonly data: unknown;
}

/** One, or those that came together. */
export type ServerEvents = ServerEvent | readonly ServerEvent[];

const PING_MS = 15_000;
const PING = ": ping\n\n";
/** Of what came together so much is written at once; the rest waits for its reader, as it would have one by one. */
const MAX_WRITE_CHARACTERS = 64 * 1024;

export interface SendEventsOptions {
  readonly headers: Readonly<Record<string, string>>;
  readonly clientGone: AbortSignal;
  readonly schedule: Schedule;
  /** Counts what its reader has not taken, until what is returned is called. */
  readonly unread?: (bytes: number) => () => void;
  readonly startsWithPing?: boolean;
}

/** Resolves when the last event is written or the caller is gone; leaving early returns the events' iterator. */
export async function sendEvents(
  response: ServerResponse,
  events: AsyncIterable<ServerEvents>,
  { headers, clientGone, schedule, startsWithPing = false, unread = () => () => undefined }: SendEventsOptions,
): Promise<void> {
  response.writeHead(200, {
    "cache-control": "no-store",
    // Proxies that gather what they pass on would hold the events back.
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
  const drained = async (): Promise<void> => {
    const taken = unread(response.writableLength);
    try {
      await once(response, "drain", { signal: clientGone });
    } finally {
      taken();
    }
  };
  try {
    for await (const come of events) {
      if (clientGone.aborted) return;
      // Whoever asks for the head alone would wait for the end of what may have none.
      if (response.req.method === "HEAD") break;
      let text = "";
      for (const event of isOne(come) ? [come] : come) {
        text += eventText(event);
        if (text.length < MAX_WRITE_CHARACTERS) continue;
        if (!write(text)) await drained();
        text = "";
      }
      if (text !== "" && !write(text)) await drained();
    }
    response.end();
  } catch (error) {
    if (!clientGone.aborted) throw error;
  } finally {
    ping.stop();
    // Nobody is left, or the request broke: the connection would stay, with an answer that never ends.
    if (!response.writableEnded) response.destroy();
  }
}

function isOne(events: ServerEvents): events is ServerEvent {
  return !Array.isArray(events);
}

export function eventText({ event, data }: ServerEvent): string {
  const text = typeof data === "string" ? data : JSON.stringify(data);
  return `${event === undefined ? "" : `event: ${event}\n`}data: ${text}\n\n`;
}

/** A comment as often as nothing was written for the period. */
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
