// A job's result as it is kept: the envelope, and the times beside it that only a re-export shows (contract 5). Sealed, in the
// row or, when its envelope is large, in the object store.
import { buffer } from "node:stream/consumers";
import { Readable } from "node:stream";
import type { Segment, TranscriptionEnvelope, Word } from "../contract/transcription.ts";
import { ObjectMissing } from "../objects/store.ts";
import type { JobRow } from "../storage/tables.ts";
import { type Insistence, insist } from "./insist.ts";
import type { JobServices } from "./services.ts";

export interface JobResult {
  readonly envelope: TranscriptionEnvelope;
  /** The plain text, its segments and words, whatever the envelope shows of them. */
  readonly kept: {
    readonly content: string;
    readonly segments: readonly Segment[];
    readonly words: readonly Word[];
  };
}

export interface StoredResult {
  readonly result: Buffer | null;
  readonly resultKey: string | null;
}

/** Under a name of this attempt's own: an attempt that lost its lease must not write over its successor's. */
export async function storeResult(
  { seal, objects, limits }: Pick<JobServices, "seal" | "objects" | "limits">,
  job: { readonly id: string; readonly attempt: number; readonly workspaceId: string },
  result: JobResult,
  insistence: Insistence,
  /** Told before what takes its time: in the row, the result is stored with the job's end. */
  onPut: () => Promise<unknown>,
): Promise<StoredResult> {
  const sealed = seal.seal(Buffer.from(JSON.stringify(result)), place(job.workspaceId, job.id));
  if (Buffer.byteLength(JSON.stringify(result.envelope)) <= limits.sttJobInlineResultBytes)
    return { result: sealed, resultKey: null };
  const resultKey = `results/${job.id}/${job.attempt}`;
  await insist(insistence, onPut);
  // A disk that is full now may have room later (reliability J-10).
  await insist(
    insistence,
    () => objects.put(resultKey, once(sealed), sealed.length),
    () => true,
  );
  return { result: null, resultKey };
}

/** Null when there is none any more. */
export async function loadResult(
  { seal, objects }: Pick<JobServices, "seal" | "objects">,
  row: Pick<JobRow, "id" | "workspace_id" | "result" | "result_key">,
): Promise<JobResult | null> {
  const sealed = row.result ?? (row.result_key === null ? null : await readObject(objects, row.result_key));
  if (sealed === null) return null;
  return JSON.parse(seal.open(sealed, place(row.workspace_id, row.id)).toString("utf8")) as JobResult;
}

async function readObject(objects: JobServices["objects"], key: string): Promise<Buffer | null> {
  try {
    return await buffer(Readable.from(await objects.open(key)));
  } catch (error) {
    // Purged between the row's reading and here.
    if (error instanceof ObjectMissing) return null;
    throw error;
  }
}

async function* once(bytes: Buffer): AsyncGenerator<Uint8Array> {
  yield bytes;
}

function place(workspaceId: string, jobId: string): readonly string[] {
  return ["jobs.result", workspaceId, jobId];
}
