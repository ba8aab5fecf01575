// One live transcription over its socket (contract 10): start, audio, finish there; the events of a stream here; one `error`
// event where it ends otherwise. The caller is read no faster than the provider, and sent to no faster than it reads.
import type { RawData, WebSocket } from "ws";
import { type ErrorCode, GatewayError } from "../contract/errors.ts";
import type { RequestId } from "../contract/ids.ts";
import { invalidRequest } from "../contract/invalid-request.ts";
import { type RealtimeStart, realtimeStart } from "../contract/realtime.ts";
import type { TranscriptPart } from "../gateway/stream-transcription.ts";
import type { Schedule } from "./body-rate.ts";
import { internalError, toErrorBody } from "./error-reply.ts";
import { createFaults } from "./faults.ts";
import { judgedFields, VALUE_LIMITS } from "./fields.ts";
import { createLiveFeed } from "./live-feed.ts";
import { parseStrictJson } from "./strict-json.ts";
import { transcriptEvents } from "./transcript-events.ts";

export interface LiveSession {
  readonly requestId: RequestId;
  readonly publicUrl: string;
  readonly schedule: Schedule;
  readonly nowMs: () => number;
  /** Told of the error that ends it. */
  readonly onBroken: (code: ErrorCode) => void;
  readonly onFault: (error: unknown) => void;
  readonly transcribe: (
    start: RealtimeStart,
    frames: AsyncIterable<Uint8Array>,
    gone: AbortSignal,
  ) => AsyncIterable<TranscriptPart>;
}

const MAX_FRAME_BYTES = 65_536;
const START_TIMEOUT_MS = 10_000;
/** Without a frame; a pause in speech is silence that is sent. */
const IDLE_TIMEOUT_MS = 30_000;
const PING_MS = 15_000;
const FRAMES_PER_SECOND = 200;
const CLOSE_TIMEOUT_MS = 2_000;

export async function runLiveSession(client: WebSocket, session: LiveSession, stopping: AbortSignal): Promise<void> {
  const gone = new AbortController();
  let fault: GatewayError | null = null;
  const stop = (error: GatewayError | null): void => {
    fault ??= error;
    gone.abort(error ?? undefined);
  };
  const onStopping = (): void => stop(shuttingDown());
  stopping.addEventListener("abort", onStopping, { once: true });
  if (stopping.aborted) onStopping();
  client.once("close", () => stop(null));
  client.once("error", () => {
    if (client.readyState === client.OPEN)
      stop(invalid(`A frame broke the protocol, or held far more than ${MAX_FRAME_BYTES} bytes.`));
  });
  const inbox = readInbox(client, session, stop);
  const pulse = keepAlive(client, session.schedule);
  try {
    const start = await Promise.race([inbox.started, aborted(gone.signal)]);
    if (start !== null) {
      const errors = { requestId: session.requestId, publicUrl: session.publicUrl };
      const parts = session.transcribe(start, inbox.frames, gone.signal);
      for await (const event of transcriptEvents(parts, errors)) await send(client, event);
    }
  } catch (error) {
    if (!gone.signal.aborted) fault ??= asGatewayError(error, session);
  } finally {
    inbox.stop();
    pulse.stop();
    stopping.removeEventListener("abort", onStopping);
  }
  if (fault !== null) session.onBroken(fault.code);
  await goodbye(client, session, fault);
}

interface Inbox {
  readonly started: Promise<RealtimeStart>;
  readonly frames: AsyncIterable<Uint8Array>;
  stop(): void;
}

function readInbox(client: WebSocket, session: LiveSession, stop: (error: GatewayError) => void): Inbox {
  const started = Promise.withResolvers<RealtimeStart>();
  const allowed = frameRate(session.nowMs);
  const feed = createLiveFeed({
    pause: () => client.pause(),
    resume: () => {
      allowed.catchUp();
      client.resume();
      rearm();
    },
  });
  let state: "waiting" | "speaking" | "finished" = "waiting";
  let cancelIdle = session.schedule(() => stop(tooQuiet("No start frame came.")), START_TIMEOUT_MS);
  const rearm = (): void => {
    cancelIdle();
    cancelIdle =
      state === "finished"
        ? () => undefined
        : session.schedule(() => {
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

  client.on("message", (data, isBinary) => {
    try {
      take(data, isBinary);
    } catch (error) {
      stop(asGatewayError(error, session));
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

/** Resolves when it has left, whatever became of the connection. */
async function send(client: WebSocket, event: unknown): Promise<void> {
  if (client.readyState !== client.OPEN) return;
  await new Promise<void>((resolve) => {
    client.send(JSON.stringify(event), () => resolve());
  });
}

/** One `error` event where it did not end well; then the close, and no longer than a moment for the other side's. */
async function goodbye(client: WebSocket, session: LiveSession, fault: GatewayError | null): Promise<void> {
  if (client.readyState !== client.OPEN) return;
  const closed = new Promise<void>((resolve) => {
    client.once("close", () => resolve());
  });
  if (fault === null) client.close(1000);
  else {
    await send(client, { event: "error", data: toErrorBody(fault, session) });
    client.close(fault.status >= 500 ? 1011 : 1008, fault.code);
  }
  const cancel = session.schedule(() => client.terminate(), CLOSE_TIMEOUT_MS);
  await closed;
  cancel();
}

/** A caller that answers no ping until the next one is gone. */
function keepAlive(client: WebSocket, schedule: Schedule): { stop(): void } {
  let isAlive = true;
  client.on("pong", () => {
    isAlive = true;
  });
  const turn = (): void => {
    // While we do not read, no answer can come.
    if (!isAlive && !client.isPaused) return client.terminate();
    isAlive = false;
    client.ping();
    cancel = schedule(turn, PING_MS);
  };
  let cancel = schedule(turn, PING_MS);
  return { stop: () => cancel() };
}

function aborted(signal: AbortSignal): Promise<null> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(null);
    signal.addEventListener("abort", () => resolve(null), { once: true });
  });
}

function asGatewayError(error: unknown, session: LiveSession): GatewayError {
  if (error instanceof GatewayError) return error;
  session.onFault(error);
  return internalError(error);
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

function shuttingDown(): GatewayError {
  return new GatewayError("SHUTTING_DOWN", {
    message: "This process is shutting down. Connect again: another one will answer.",
  });
}
