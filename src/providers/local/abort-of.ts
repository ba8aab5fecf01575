// The failure of a call whose signal aborted: its caller hung up, unless the gateway gave a reason of its own.
import { ProviderError } from "../io.ts";

export function abortOf({ reason }: AbortSignal): ProviderError {
  return reason instanceof ProviderError ? reason : new ProviderError("aborted");
}
