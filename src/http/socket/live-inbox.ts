// Reads the frames of a live transcription's client: start, audio, finish, in this order, within limits of rate, size and time, and with
// back-pressure [realtime.invalid-frame] [realtime.frame-rate].
import type { RawData, WebSocket } from "ws";
import { GatewayError } from "../../contract/errors.ts";
import { invalidRequest } from "../../contract/invalid-request.ts";
import { type RealtimeStart, realtimeStart } from "../../contract/transcription/realtime.ts";
import type { Schedule } from "../body/body-rate.ts";
import { createFaults } from "../body/validation-issues.ts";
import { judgedFields, VALUE_LIMITS } from "../body/fields.ts";
import { createLiveFeed } from "./live-feed.ts";
import { parseStrictJson } from "../body/strict-json.ts";

const MAX_FRAME_BYTES = 65_536;
const START_TIMEOUT_MS = 10_000;
/** Maximum time without a frame. During a pause in speech, clients send silence. */
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

/** Calls `stop` with an error when a frame is invalid or a timeout passes. */
export function readInbox(client: WebSocket, { schedule, nowMs }: Clocks, stop: (error: unknown) => void): Inbox {
  const started = Promise.withResolvers<RealtimeStart>();
  const rateLimit = createFrameRate(nowMs);
  const feed = createLiveFeed({
    pause: () => client.pause(),
    resume: () => {
      rateLimit.catchUp();
      client.resume();
      resetIdleTimeout();
    },
  });
  let state: "waiting" | "speaking" | "finished" = "waiting";
  let cancelIdle = schedule(() => stop(tooQuiet("No start frame was received.")), START_TIMEOUT_MS);
  const resetIdleTimeout = (): void => {
    cancelIdle();
    cancelIdle =
      state === "finished"
        ? () => undefined
        : schedule(() => {
            // While reading is paused, no frame can arrive.
            if (!client.isPaused) stop(tooQuiet("No audio was received."));
          }, IDLE_TIMEOUT_MS);
  };

  function take(data: RawData, isBinary: boolean): void {
    const bytes = Buffer.isBuffer(data) ? data : Buffer.alloc(0);
    if (!rateLimit.next()) throw tooManyFrames();
    if (bytes.byteLength > MAX_FRAME_BYTES) throw invalid(`A frame may contain at most ${MAX_FRAME_BYTES} bytes.`);
    if (isBinary) {
      if (state !== "speaking") throw invalid("Audio is sent between the start frame and the finish frame.");
      feed.push(bytes);
      return resetIdleTimeout();
    }
    const message = parseObject(bytes);
    if (state === "waiting") {
      started.resolve(judgedFields(realtimeStart, message, createFaults()));
      state = "speaking";
      return resetIdleTimeout();
    }
    if (message["type"] !== "finish" || Object.keys(message).length > 1 || state === "finished") {
      throw invalid('After the start frame the only text frame is {"type":"finish"}, once.');
    }
    state = "finished";
    resetIdleTimeout();
    feed.end();
  }

  client.once("error", () => {
    if (client.readyState === client.OPEN)
      stop(invalid(`A frame violated the protocol, or contained far more than ${MAX_FRAME_BYTES} bytes.`));
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
      resetIdleTimeout();
      client.removeAllListeners("message");
      // Discards further frames, so that the client's close frame is read.
      if (client.isPaused) client.resume();
      feed.end();
    },
  };
}

function parseObject(bytes: Buffer): Record<string, unknown> {
  const parsed = parseStrictJson(bytes, VALUE_LIMITS);
  if (!parsed.ok) throw invalid(parsed.message.replace("The body", "The frame"));
  const { value } = parsed;
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw invalid("A text frame is a JSON object.");
  return value as Record<string, unknown>;
}

interface FrameRate {
  next(): boolean;
  /** Frames that waited while reading was paused arrive at once. They count for the time in which they were sent. */
  catchUp(): void;
}

/** A token bucket of one second, because bursts of frames that were delayed on the network are no flood. */
function createFrameRate(nowMs: () => number): FrameRate {
  let tokens = FRAMES_PER_SECOND;
  let refilledAtMs = nowMs();
  const refillTokens = (): number => {
    const elapsedMs = Math.max(0, nowMs() - refilledAtMs);
    refilledAtMs += elapsedMs;
    return (elapsedMs * FRAMES_PER_SECOND) / 1000;
  };
  return {
    next: () => {
      tokens = Math.max(tokens, Math.min(FRAMES_PER_SECOND, tokens + refillTokens())) - 1;
      return tokens >= 0;
    },
    catchUp: () => {
      tokens += refillTokens();
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
    message: `At most ${FRAMES_PER_SECOND} frames per second are accepted. Send more audio per frame.`,
    retryAfterSeconds: 1,
    details: { limit: FRAMES_PER_SECOND, unit: "frames", period_seconds: 1 },
  });
}
