// Measures how fast a request body arrives and reports when it is too slow, except while the server itself is not reading or has not yet sent 100
// Continue [api.body-rate].
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { GatewayError } from "../../contract/errors.ts";
import { hasCome } from "./body-chunks.ts";
import { declaredLength } from "./content-type.ts";
import type { EdgeLimits } from "../server/limits.ts";
import { hasUnreadBody } from "../server/linger.ts";

/** Runs `run` after `ms`, and returns a function that cancels it. Tests pass their own. */
export type Schedule = (run: () => void, ms: number) => () => void;

export const schedule: Schedule = (run, ms) => {
  const timer = setTimeout(run, ms);
  timer.unref();
  return () => clearTimeout(timer);
};

/** Calls `run` when the body is first read, unless there is none or it arrived with its head without `Expect: 100-continue`. */
export function onFirstRead(raw: IncomingMessage, run: () => void): void {
  if (!hasUnreadBody(raw)) return;
  if (raw.headers.expect === undefined && hasCome(raw, declaredLength(raw.headers))) return;
  const read = raw.read.bind(raw);
  raw.read = (size) => {
    raw.read = read;
    run();
    return read(size);
  };
}

export interface BodyRateOptions {
  readonly socket: Socket;
  readonly limits: EdgeLimits;
  readonly schedule: Schedule;
  readonly tooSlow: (error: GatewayError) => void;
}

/** After the grace period, each window must receive its share of bytes until the body is complete. */
export function watchBodyRate(raw: IncomingMessage, response: ServerResponse, options: BodyRateOptions): void {
  if (hasCome(raw, declaredLength(raw.headers))) return;
  const { socket } = options;
  const { bodyGraceMs, bodyWindowMs, minBodyBytesPerSecond } = options.limits;
  const expectedBytes = (minBodyBytesPerSecond * bodyWindowMs) / 1000;
  let cancel = options.schedule(openWindow, bodyGraceMs);
  response.once("close", () => cancel());

  function openWindow(): void {
    const initialBytes = socket.bytesRead;
    cancel = options.schedule(() => {
      if (raw.complete || response.writableEnded || raw.destroyed) return;
      const isServerPaused = raw.readableLength >= raw.readableHighWaterMark;
      if (isServerPaused || socket.bytesRead - initialBytes >= expectedBytes) return openWindow();
      options.tooSlow(
        new GatewayError("REQUEST_TIMEOUT", {
          message: `The request body arrived at less than ${minBodyBytesPerSecond} bytes per second. Nothing was called or charged.`,
          details: { min_body_bytes_per_second: minBodyBytesPerSecond },
        }),
      );
    }, bodyWindowMs);
  }
}
