// Runs one live transcription over its WebSocket: reads start, audio and finish, sends the events of a stream, and one `error` event on failure
// [realtime.close-codes], with back-pressure in both directions [realtime.backpressure].
import type { WebSocket } from "ws";
import { type ErrorCode, GatewayError } from "../../contract/errors.ts";
import type { RequestId } from "../../contract/ids.ts";
import type { RealtimeStart } from "../../contract/transcription/realtime.ts";
import type { TranscriptPart } from "../../gateway/transcription/stream-transcription.ts";
import type { Schedule } from "../body/body-rate.ts";
import { gatewayErrorOf, toErrorBody } from "../reply/error-reply.ts";
import { readInbox } from "./live-inbox.ts";
import { transcriptEvents } from "../reply/transcript-events.ts";

export interface LiveSession {
  readonly requestId: RequestId;
  readonly publicUrl: string;
  readonly schedule: Schedule;
  readonly nowMs: () => number;
  /** Called with the code of the error that ends the session. */
  readonly onBroken: (code: ErrorCode) => void;
  readonly onFault: (error: unknown) => void;
  readonly transcribe: (
    start: RealtimeStart,
    frames: AsyncIterable<Uint8Array>,
    gone: AbortSignal,
  ) => AsyncIterable<TranscriptPart>;
}

const PING_MS = 15_000;
const CLOSE_TIMEOUT_MS = 2_000;

/** `stopping` aborts when the process shuts down. `revoked` aborts with the refusal when the client's authorization is no longer valid. */
export async function runLiveSession(
  client: WebSocket,
  session: LiveSession,
  { stopping, revoked }: { readonly stopping: AbortSignal; readonly revoked: AbortSignal },
): Promise<void> {
  const gone = new AbortController();
  let fault: GatewayError | null = null;
  const stop = (error: GatewayError | null): void => {
    fault ??= error;
    gone.abort(error ?? undefined);
  };
  const onStopping = (): void => stop(shuttingDown());
  stopping.addEventListener("abort", onStopping, { once: true });
  if (stopping.aborted) onStopping();
  const onRevoked = (): void => stop(asGatewayError(revoked.reason, session));
  revoked.addEventListener("abort", onRevoked, { once: true });
  client.once("close", () => stop(null));
  const inbox = readInbox(client, session, (error) => stop(asGatewayError(error, session)));
  const pinger = keepAlive(client, session.schedule);
  try {
    const start = await Promise.race([inbox.started, waitForAbort(gone.signal)]);
    if (start !== null) {
      const errors = { requestId: session.requestId, publicUrl: session.publicUrl };
      const parts = session.transcribe(start, inbox.frames, gone.signal);
      for await (const event of transcriptEvents(parts, errors))
        await Promise.race([send(client, event), waitForAbort(gone.signal)]);
    }
  } catch (error) {
    const gatewayError = asGatewayError(error, session);
    // Otherwise an earlier error has ended the session, or the client has disconnected.
    if (!gone.signal.aborted) fault ??= gatewayError;
  } finally {
    inbox.stop();
    pinger.stop();
    stopping.removeEventListener("abort", onStopping);
    revoked.removeEventListener("abort", onRevoked);
  }
  if (fault !== null) session.onBroken(fault.code);
  await closeSession(client, session, fault);
}

/** Resolves when the event was sent or the connection failed. */
async function send(client: WebSocket, event: unknown): Promise<void> {
  if (client.readyState !== client.OPEN) return;
  await new Promise<void>((resolve) => {
    client.send(JSON.stringify(event), () => resolve());
  });
}

/** Sends an `error` event if the session failed, closes, and waits briefly for the client's close frame. */
async function closeSession(client: WebSocket, session: LiveSession, fault: GatewayError | null): Promise<void> {
  if (client.readyState !== client.OPEN) return;
  const closed = new Promise<void>((resolve) => {
    client.once("close", () => resolve());
  });
  // Started before the error event, because a client that has stopped reading would delay it.
  const cancel = session.schedule(() => client.terminate(), CLOSE_TIMEOUT_MS);
  if (fault === null) client.close(1000);
  else {
    await send(client, { event: "error", data: toErrorBody(fault, session) });
    client.close(fault.status >= 500 ? 1011 : 1008, fault.code);
  }
  await closed;
  cancel();
}

/** Disconnects a client that has not answered a ping by the time of the next one. */
function keepAlive(client: WebSocket, schedule: Schedule): { stop(): void } {
  let isAlive = true;
  client.on("pong", () => {
    isAlive = true;
  });
  const sendPing = (): void => {
    // While reading is paused, no pong can arrive.
    if (!isAlive && !client.isPaused) return client.terminate();
    isAlive = false;
    client.ping();
    cancel = schedule(sendPing, PING_MS);
  };
  let cancel = schedule(sendPing, PING_MS);
  return { stop: () => cancel() };
}

function waitForAbort(signal: AbortSignal): Promise<null> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(null);
    signal.addEventListener("abort", () => resolve(null), { once: true });
  });
}

/** Unexpected errors are logged here. */
function asGatewayError(error: unknown, session: LiveSession): GatewayError {
  if (error instanceof GatewayError) return error;
  session.onFault(error);
  return gatewayErrorOf(error);
}

function shuttingDown(): GatewayError {
  return new GatewayError("SHUTTING_DOWN", {
    message: "This process is shutting down. Reconnect: another process will answer.",
  });
}
