// One connection's requests one after the other (RFC 9112, 9.3.2: those sent ahead of an answer may run at once only if all are safe).
// A caller that sends many at once waits for itself, and whoever never reads an answer has one prepared, not all of them.
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { createSymbolSlot } from "../../lib/symbol-slot.ts";
import { throwAwayInput } from "./linger.ts";

export type Handler = (raw: IncomingMessage, response: ServerResponse) => void;

/** The latest request of a connection. */
export interface Turn {
  readonly raw: IncomingMessage;
  readonly response: ServerResponse;
  /** What happens when its turn comes; null: it has come. */
  begin: (() => void) | null;
}

export interface Turns {
  latest(socket: Socket): Turn | undefined;
  /** Every answer that was asked for on this connection is finished. */
  isIdle(socket: Socket): boolean;
  /** Its turn came with the end of the answer before it. */
  hasWaited(raw: IncomingMessage): boolean;
}

/**
 * Requests of one connection that wait for their turn. Node holds back whoever lets answers pile up, but these have none yet: without a
 * bound of its own a caller that reads nothing, or is behind a stream, fills the memory with requests of sixty bytes.
 */
const MOST_WAITING = 32;

/** Call `serve` once: its handler gets a request when the connection's answers before it are finished. */
export function createPipelineQueue(): Turns & { serve(server: Server, handler: Handler): void } {
  const latest = createSymbolSlot<Socket, Turn>("latest request");
  const waiting = createSymbolSlot<Socket, number>("requests that wait for their turn");
  const waited = createSymbolSlot<IncomingMessage, true>("waited for its turn");

  function queue(before: Turn, turn: Turn, handler: Handler): void {
    const { socket } = turn.raw;
    waiting.set(socket, (waiting.get(socket) ?? 0) + 1);
    waited.set(turn.raw, true);
    turn.begin = () => handler(turn.raw, turn.response);
    before.response.once("close", () => {
      waiting.set(socket, (waiting.get(socket) ?? 1) - 1);
      const { begin } = turn;
      turn.begin = null;
      // An answer that closed its connection has left this one without any.
      if (socket.writable) begin?.();
    });
  }

  return {
    latest: (socket) => latest.get(socket),
    isIdle: (socket) => latest.get(socket)?.response.closed ?? true,
    hasWaited: (raw) => waited.get(raw) === true,
    serve: (server, handler) => {
      server.on("request", (raw, response) => {
        const { socket } = raw;
        const before = latest.get(socket);
        const turn: Turn = { raw, response, begin: null };
        if (before === undefined || before.response.closed) {
          latest.set(socket, turn);
          return handler(raw, response);
        }
        if ((waiting.get(socket) ?? 0) === MOST_WAITING) return endAfter(before);
        latest.set(socket, turn);
        queue(before, turn, handler);
      });
    },
  };
}

/** What was sent behind it is not taken (RFC 9112, 9.3.2: its caller sends that again), and its answer says so. */
function endAfter({ raw, response }: Turn): void {
  response.shouldKeepAlive = false;
  throwAwayInput(raw.socket);
}
