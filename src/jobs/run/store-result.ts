// Stores the result of a job: sealed, in the row or, if the envelope is large, in the object store [jobs.result-url].
import type { Segment, TranscriptionEnvelope, Word } from "../../contract/transcription/transcription-envelope.ts";
import { jsonBytes } from "../../lib/json/write-json.ts";
import { singleChunk } from "../../lib/buffered-body.ts";
import { type RetryPolicy, retryUntilDeadline } from "./retry-policy.ts";
import type { StoredResult } from "../job-end.ts";
import type { JobServices } from "../services.ts";
import { storedForm, sealContext } from "../read/stored-result-format.ts";

/** The object's name contains the attempt, because an attempt that lost its lease must not overwrite its successor's result. */
export async function storeResult(
  { seal, objects, limits }: Pick<JobServices, "seal" | "objects" | "limits">,
  job: { readonly id: string; readonly attempt: number; readonly workspaceId: string },
  result: JobResult,
  retryPolicy: RetryPolicy,
  /** Called before a slow write to the object store. In the row, the result is stored by the transaction that ends the job. */
  onPut: () => Promise<unknown>,
): Promise<StoredResult> {
  const envelope = await jsonBytes(result.envelope);
  const kept = await jsonBytes(result.kept);
  const sealed = await seal.sealCompressed(storedForm(envelope, kept), sealContext(job.workspaceId, job.id));
  if (envelope.byteLength <= limits.sttJobInlineResultBytes) return { result: sealed, resultKey: null };
  const resultKey = `results/${job.id}/${job.attempt}`;
  await retryUntilDeadline(retryPolicy, onPut);
  // A full disk may have room later [jobs.result-storage-retry].
  await retryUntilDeadline(
    retryPolicy,
    () => objects.put(resultKey, singleChunk(sealed), sealed.length),
    () => true,
  );
  return { result: null, resultKey };
}

export interface JobResult {
  readonly envelope: TranscriptionEnvelope;
  /** The plain text, its segments and its words, whatever the envelope shows of them. */
  readonly kept: {
    readonly content: string;
    readonly segments: readonly Segment[];
    readonly words: readonly Word[];
  };
}
