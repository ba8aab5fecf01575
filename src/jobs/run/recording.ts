// A job's recording as the object store returns it: one that was lost or changed ends the job [jobs.recording-lost], an unreadable one is waited for
// [jobs.recording-unreadable]. Either is an internal error, so no provider is blamed and no other one is called.
import { createHash } from "node:crypto";
import type { KeptAudio } from "../../audio/spool.ts";
import { GatewayError } from "../../contract/errors.ts";
import { ObjectMissing, type ObjectStore } from "../../objects/store.ts";

export interface Recording {
  /** The last bytes are delivered only after the whole recording has matched the submitted size and hash. */
  readonly open: () => AsyncIterable<Uint8Array>;
  /** Aborts as soon as the recording turns out to be unreadable. */
  readonly unreadable: AbortSignal;
  /** Null: no read has failed so far. */
  fault(): RecordingFault | null;
}

export interface RecordingFault {
  /** True: the store may still have the recording and be unable to return it now. */
  readonly mayPass: boolean;
  readonly error: GatewayError;
}

export interface SubmittedRecording {
  readonly sizeBytes: number;
  /** Hexadecimal. Absent: the job was submitted before hashes were stored. */
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
    fault ??= { mayPass: reason === "recording_unreadable", error: recordingError(reason, cause) };
    unreadable.abort();
    return fault.error;
  };
  return {
    open: async function* () {
      const hash = createHash("sha256");
      let receivedBytes = 0;
      let pending: Uint8Array | null = null;
      try {
        for await (const chunk of await objects.open(audioKey)) {
          if (pending !== null) yield pending;
          receivedBytes += chunk.byteLength;
          hash.update(chunk);
          pending = chunk;
        }
      } catch (error) {
        throw stop(error instanceof ObjectMissing ? "recording_missing" : "recording_unreadable", error);
      }
      const sha256 = hash.digest("hex");
      if (receivedBytes !== submitted.sizeBytes || sha256 !== (submitted.sha256 ?? sha256))
        throw stop("recording_damaged");
      if (pending !== null) yield pending;
    },
    unreadable: unreadable.signal,
    fault: () => fault,
  };
}

/** The recording as it was submitted, from memory. */
export function keptRecording({ open }: KeptAudio): Recording {
  return { open, unreadable: new AbortController().signal, fault: () => null };
}

function recordingError(reason: Reason, cause: unknown): GatewayError {
  return new GatewayError("INTERNAL", {
    message:
      "The gateway could not read this job's recording from its store, so it was not transcribed. Nothing was charged. Submit it again under a new key. If the error recurs, report the job's id to the operator.",
    details: { reason },
    retryable: true,
    cause,
  });
}
