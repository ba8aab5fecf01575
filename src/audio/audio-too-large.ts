// Creates the error 413 AUDIO_TOO_LARGE for audio above `max_audio_bytes` [request-body.max-audio-bytes]: thrown by `http/body/read-audio` as soon as a
// declared length exceeds it, and by `audio/spool` as soon as the received bytes do.
import { GatewayError } from "../contract/errors.ts";

export function audioTooLarge(
  limit: { readonly maxBytes: number; readonly param: string },
  receivedBytes: number,
): GatewayError {
  return new GatewayError("AUDIO_TOO_LARGE", {
    message: `The audio is larger than ${limit.maxBytes} bytes, the maximum; ${receivedBytes} bytes were announced or received.`,
    param: limit.param,
    details: { max_audio_bytes: limit.maxBytes, received_bytes: receivedBytes },
  });
}
