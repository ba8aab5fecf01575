// A job's recording as the object store gives it back (contract 1, 5). One that the store lost or cannot read ends the job and says so: the
// call that was to send it is stopped as our own doing, and no provider is blamed for it or asked next.
import { GatewayError } from "../contract/errors.ts";
import { ObjectMissing, type ObjectStore } from "../objects/store.ts";

export interface Recording {
  readonly open: () => AsyncIterable<Uint8Array>;
  /** Aborts at the moment it turns out that it cannot be read. */
  readonly unreadable: AbortSignal;
  /** Null while it could be read. */
  verdict(): GatewayError | null;
}

type Fault = "recording_missing" | "recording_damaged" | "recording_unreadable";

export function openRecording(objects: Pick<ObjectStore, "open">, audioKey: string, sizeBytes: number): Recording {
  const unreadable = new AbortController();
  let verdict: GatewayError | null = null;
  const stop = (reason: Fault, cause: unknown): GatewayError => {
    verdict ??= new GatewayError("INTERNAL", {
      message:
        "The gateway could not read this job's recording back from its store, so it was not transcribed. Nothing was charged. Submit it again under a new key; if it comes back, tell the operator the job's id.",
      details: { reason },
      retryable: true,
      cause,
    });
    unreadable.abort();
    return verdict;
  };
  return {
    open: async function* () {
      let seenBytes = 0;
      try {
        for await (const chunk of await objects.open(audioKey)) {
          seenBytes += chunk.byteLength;
          yield chunk;
        }
      } catch (error) {
        throw stop(error instanceof ObjectMissing ? "recording_missing" : "recording_unreadable", error);
      }
      if (seenBytes !== sizeBytes) throw stop("recording_damaged", undefined);
    },
    unreadable: unreadable.signal,
    verdict: () => verdict,
  };
}
