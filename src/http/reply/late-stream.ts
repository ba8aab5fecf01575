// A stream of a transcript whose first content is late: its status line goes out before it, so that nothing on the way takes the
// connection for dead, and what fails from then on is an `error` event.
import { GatewayError } from "../../contract/errors.ts";
import type { TranscriptPart, TranscriptStream } from "../../gateway/transcription/stream-transcription.ts";
import { schedule } from "../body/body-rate.ts";
import { internalError } from "./error-reply.ts";

/** Null: it takes longer. Rejects with what fails in time. */
export async function openedWithin<T>(opening: Promise<T>, milliseconds: number): Promise<T | null> {
  const late = Promise.withResolvers<null>();
  const cancel = schedule(() => late.resolve(null), milliseconds);
  try {
    return await Promise.race([opening, late.promise]);
  } finally {
    cancel();
  }
}

export interface LateStreamOptions {
  /** Told of the error that the stream ends with; `cause` where it is an internal one. */
  readonly onError: (error: GatewayError, cause: unknown) => void;
}

export async function* lateParts(
  opening: Promise<TranscriptStream>,
  { onError }: LateStreamOptions,
): AsyncGenerator<TranscriptPart> {
  let stream: TranscriptStream;
  try {
    stream = await opening;
  } catch (cause) {
    const error = cause instanceof GatewayError ? cause : internalError(cause);
    onError(error, cause);
    yield { kind: "error", error };
    return;
  }
  yield* stream.parts;
}
