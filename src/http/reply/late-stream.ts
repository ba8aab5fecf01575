// Starts a transcript's event stream before its first content is available, so that no proxy closes the silent connection. Later failures become an
// `error` event.
import { GatewayError } from "../../contract/errors.ts";
import type { TranscriptPart, TranscriptStream } from "../../gateway/transcription/stream-transcription.ts";
import { schedule } from "../body/body-rate.ts";
import { internalError } from "./error-reply.ts";

/** Null: the timeout passed first. Rejects if `opening` fails before that. */
export async function openedWithin<T>(opening: Promise<T>, milliseconds: number): Promise<T | null> {
  const timeout = Promise.withResolvers<null>();
  const cancel = schedule(() => timeout.resolve(null), milliseconds);
  try {
    return await Promise.race([opening, timeout.promise]);
  } finally {
    cancel();
  }
}

export interface LateStreamOptions {
  /** Called with the error that ends the stream. `cause` is the original error of an internal one. */
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
