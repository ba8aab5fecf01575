// A job's recording as the object store returns it. One that the store lost or changed ends the job [jobs.recording-lost], one that cannot
// be read now is waited for [jobs.recording-unreadable]. Either way the call that was to send it is stopped as an internal error, and no
// provider is blamed for it or called next.
import { createHash } from "node:crypto";
import { GatewayError } from "../contract/errors.ts";
import { ObjectMissing, type ObjectStore } from "../objects/store.ts";

export interface Recording {
  /** Its last bytes come only when the whole is known to be what was submitted. */
  readonly open: () => AsyncIterable<Uint8Array>;
  /** Aborts at the moment it turns out that it cannot be read. */
  readonly unreadable: AbortSignal;
  /** Null while it could be read. */
  fault(): RecordingFault | null;
}

export interface RecordingFault {
  /** The store may have it yet, and does not give it out. */
  readonly mayPass: boolean;
  readonly error: GatewayError;
}

export interface SubmittedRecording {
  readonly sizeBytes: number;
  /** Hexadecimal; absent of jobs from before it was kept. */
  readonly sha256?: string | undefined;
}

type Reason = "recording_missing" | "recording_damaged" | "recording_unreadable";

export function openRecording(
  objects: Pick<ObjectStore, "open">,
  audioKey: string,
  submitted: SubmittedRecording,
): Recording {
  const unreadable = new AbortController();
  let fault: RecordingFault | null = null;
  const stop = (reason: Reason, cause?: unknown): GatewayError => {
    fault ??= { mayPass: reason === "recording_unreadable", error: couldNotRead(reason, cause) };
    unreadable.abort();
    return fault.error;
  };
  return {
    open: async function* () {
      const hash = createHash("sha256");
      let seenBytes = 0;
      let held: Uint8Array | null = null;
      try {
        for await (const chunk of await objects.open(audioKey)) {
          if (held !== null) yield held;
          seenBytes += chunk.byteLength;
          hash.update(chunk);
          held = chunk;
        }
      } catch (error) {
        throw stop(error instanceof ObjectMissing ? "recording_missing" : "recording_unreadable", error);
      }
      const sha256 = hash.digest("hex");
      if (seenBytes !== submitted.sizeBytes || sha256 !== (submitted.sha256 ?? sha256)) throw stop("recording_damaged");
      if (held !== null) yield held;
    },
    unreadable: unreadable.signal,
    fault: () => fault,
  };
}

function couldNotRead(reason: Reason, cause: unknown): GatewayError {
  return new GatewayError("INTERNAL", {
    message:
      "The gateway could not read this job's recording back from its store, so it was not transcribed. Nothing was charged. Submit it again under a new key; if it comes back, tell the operator the job's id.",
    details: { reason },
    retryable: true,
    cause,
  });
}
