// One live transcription over its socket: start, audio and finish in; the events of a stream out; one `error` event where it fails
// [realtime.close-codes]. The caller is read no faster than the provider, and written to no faster than it reads [realtime.backpressure].
import type { WebSocket } from "ws";
import { type ErrorCode, GatewayError } from "../../contract/errors.ts";
import type { RequestId } from "../../contract/ids.ts";
import type { RealtimeStart } from "../../contract/realtime.ts";
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
  /** Told of the error that ends it. */
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

/** `stopping` aborts when the process shuts down, `revoked` with the refusal once the caller's authorization is no longer valid. */
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
  const pulse = keepAlive(client, session.schedule);
  try {
    const start = await Promise.race([inbox.started, aborted(gone.signal)]);
    if (start !== null) {
      const errors = { requestId: session.requestId, publicUrl: session.publicUrl };
      const parts = session.transcribe(start, inbox.frames, gone.signal);
      for await (const event of transcriptEvents(parts, errors))
        await Promise.race([send(client, event), aborted(gone.signal)]);
    }
  } catch (error) {
    const known = asGatewayError(error, session);
    // Else something ended it before, or nobody is left to be told.
    if (!gone.signal.aborted) fault ??= known;
  } finally {
    inbox.stop();
    pulse.stop();
    stopping.removeEventListener("abort", onStopping);
    revoked.removeEventListener("abort", onRevoked);
  }
  if (fault !== null) session.onBroken(fault.code);
  await goodbye(client, session, fault);
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
  // Before the last word: a caller that has stopped reading would hold it up.
  const cancel = session.schedule(() => client.terminate(), CLOSE_TIMEOUT_MS);
  if (fault === null) client.close(1000);
  else {
    await send(client, { event: "error", data: toErrorBody(fault, session) });
    client.close(fault.status >= 500 ? 1011 : 1008, fault.code);
  }
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

/** An error that no step judged is in the log by then. */
function asGatewayError(error: unknown, session: LiveSession): GatewayError {
  if (error instanceof GatewayError) return error;
  session.onFault(error);
  return gatewayErrorOf(error);
}

function shuttingDown(): GatewayError {
  return new GatewayError("SHUTTING_DOWN", {
    message: "This process is shutting down. Connect again: another one will answer.",
  });
}
