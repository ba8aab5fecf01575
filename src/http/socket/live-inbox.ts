// Reads the frames of a live transcription's caller: start, audio, finish, in this order, within the limits of rate, size and time, and no
// faster than they are consumed [realtime.invalid-frame] [realtime.frame-rate].
import type { RawData, WebSocket } from "ws";
import { GatewayError } from "../../contract/errors.ts";
import { invalidRequest } from "../../contract/invalid-request.ts";
import { type RealtimeStart, realtimeStart } from "../../contract/realtime.ts";
import type { Schedule } from "../body/body-rate.ts";
import { createFaults } from "../body/validation-issues.ts";
import { judgedFields, VALUE_LIMITS } from "../body/fields.ts";
import { createLiveFeed } from "./live-feed.ts";
import { parseStrictJson } from "../body/strict-json.ts";

const MAX_FRAME_BYTES = 65_536;
const START_TIMEOUT_MS = 10_000;
/** Without a frame; a pause in speech is silence that is sent. */
const IDLE_TIMEOUT_MS = 30_000;
const FRAMES_PER_SECOND = 200;

interface Clocks {
  readonly schedule: Schedule;
  readonly nowMs: () => number;
}

export interface Inbox {
  readonly started: Promise<RealtimeStart>;
  readonly frames: AsyncIterable<Uint8Array>;
  stop(): void;
}

/** `stop`: what is said does not do, or nothing is. */
export function readInbox(client: WebSocket, { schedule, nowMs }: Clocks, stop: (error: unknown) => void): Inbox {
  const started = Promise.withResolvers<RealtimeStart>();
  const allowed = frameRate(nowMs);
  const feed = createLiveFeed({
    pause: () => client.pause(),
    resume: () => {
      allowed.catchUp();
      client.resume();
      rearm();
    },
  });
  let state: "waiting" | "speaking" | "finished" = "waiting";
  let cancelIdle = schedule(() => stop(tooQuiet("No start frame came.")), START_TIMEOUT_MS);
  const rearm = (): void => {
    cancelIdle();
    cancelIdle =
      state === "finished"
        ? () => undefined
        : schedule(() => {
            // While we do not read, none can come.
            if (!client.isPaused) stop(tooQuiet("No audio came."));
          }, IDLE_TIMEOUT_MS);
  };

  function take(data: RawData, isBinary: boolean): void {
    const bytes = Buffer.isBuffer(data) ? data : Buffer.alloc(0);
    if (!allowed.next()) throw tooManyFrames();
    if (bytes.byteLength > MAX_FRAME_BYTES) throw invalid(`A frame holds at most ${MAX_FRAME_BYTES} bytes.`);
    if (isBinary) {
      if (state !== "speaking") throw invalid("Audio is sent between the start frame and the finish frame.");
      feed.push(bytes);
      return rearm();
    }
    const message = objectIn(bytes);
    if (state === "waiting") {
      started.resolve(judgedFields(realtimeStart, message, createFaults()));
      state = "speaking";
      return rearm();
    }
    if (message["type"] !== "finish" || Object.keys(message).length > 1 || state === "finished") {
      throw invalid('After the start frame the only text frame is {"type":"finish"}, once.');
    }
    state = "finished";
    rearm();
    feed.end();
  }

  client.once("error", () => {
    if (client.readyState === client.OPEN)
      stop(invalid(`A frame broke the protocol, or held far more than ${MAX_FRAME_BYTES} bytes.`));
  });
  client.on("message", (data, isBinary) => {
    try {
      take(data, isBinary);
    } catch (error) {
      stop(error);
    }
  });
  return {
    started: started.promise,
    frames: feed.frames,
    stop: () => {
      state = "finished";
      rearm();
      client.removeAllListeners("message");
      // What still comes is thrown away, so that the other side's goodbye is read.
      if (client.isPaused) client.resume();
      feed.end();
    },
  };
}

function objectIn(bytes: Buffer): Record<string, unknown> {
  const parsed = parseStrictJson(bytes, VALUE_LIMITS);
  if (!parsed.ok) throw invalid(parsed.message.replace("The body", "The frame"));
  const { value } = parsed;
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw invalid("A text frame is a JSON object.");
  return value as Record<string, unknown>;
}

interface FrameRate {
  next(): boolean;
  /** What waited while nothing was read comes at once, and is as old as that. */
  catchUp(): void;
}

/** A bucket of one second: bursts of what was held on the way are no flood. */
function frameRate(nowMs: () => number): FrameRate {
  let level = FRAMES_PER_SECOND;
  let atMs = nowMs();
  const earned = (): number => {
    const elapsedMs = Math.max(0, nowMs() - atMs);
    atMs += elapsedMs;
    return (elapsedMs * FRAMES_PER_SECOND) / 1000;
  };
  return {
    next: () => {
      level = Math.max(level, Math.min(FRAMES_PER_SECOND, level + earned())) - 1;
      return level >= 0;
    },
    catchUp: () => {
      level += earned();
    },
  };
}

function invalid(message: string): GatewayError {
  return invalidRequest(null, message);
}

function tooQuiet(message: string): GatewayError {
  return new GatewayError("REQUEST_TIMEOUT", { message: `${message} The connection was closed.` });
}

function tooManyFrames(): GatewayError {
  return new GatewayError("RATE_LIMITED", {
    message: `At most ${FRAMES_PER_SECOND} frames a second are taken. Put more audio into each.`,
    retryAfterSeconds: 1,
    details: { limit: FRAMES_PER_SECOND, unit: "frames", period_seconds: 1 },
  });
}
