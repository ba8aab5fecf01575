// Measures how fast a request body arrives and reports when it is too slow, without blaming the caller for a gateway that does not read, or
// that has not yet sent 100 Continue [api.body-rate].
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { GatewayError } from "../../contract/errors.ts";
import { hasCome } from "./body-chunks.ts";
import { declaredLength } from "./content-type.ts";
import type { EdgeLimits } from "../server/limits.ts";
import { hasUnreadBody } from "../server/linger.ts";

/** Runs `run` after `ms`; the answer cancels it. Tests pass their own. */
export type Schedule = (run: () => void, ms: number) => () => void;

export const schedule: Schedule = (run, ms) => {
  const timer = setTimeout(run, ms);
  timer.unref();
  return () => clearTimeout(timer);
};

/** Calls `run` when somebody first asks the stream for its body, if one was announced that did not come with its head, unasked. */
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

/** After the grace time, every window must bring its share of bytes until the body is complete. */
export function watchBodyRate(raw: IncomingMessage, response: ServerResponse, options: BodyRateOptions): void {
  if (hasCome(raw, declaredLength(raw.headers))) return;
  const { socket } = options;
  const { bodyGraceMs, bodyWindowMs, minBodyBytesPerSecond } = options.limits;
  const expectedBytes = (minBodyBytesPerSecond * bodyWindowMs) / 1000;
  let cancel = options.schedule(openWindow, bodyGraceMs);
  response.once("close", () => cancel());

  function openWindow(): void {
    const before = socket.bytesRead;
    cancel = options.schedule(() => {
      if (raw.complete || response.writableEnded || raw.destroyed) return;
      const gatewayHoldsBack = raw.readableLength >= raw.readableHighWaterMark;
      if (gatewayHoldsBack || socket.bytesRead - before >= expectedBytes) return openWindow();
      options.tooSlow(
        new GatewayError("REQUEST_TIMEOUT", {
          message: `The request body arrived at less than ${minBodyBytesPerSecond} bytes per second. Nothing was called or charged.`,
          details: { min_body_bytes_per_second: minBodyBytesPerSecond },
        }),
      );
    }, bodyWindowMs);
  }
}
