// A job's result as it is kept: the envelope, and the times beside it that only a re-export shows (contract 5). Sealed, in the
// row or, when its envelope is large, in the object store.
import type { Segment, TranscriptionEnvelope, Word } from "../contract/transcription.ts";
import { jsonBytes } from "../lib/json-in-steps.ts";
import { parseOwn } from "../lib/json-parser.ts";
import { onePiece } from "../lib/whole-body.ts";
import { readWhole } from "../objects/whole-objects.ts";
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
  const envelope = await jsonBytes(result.envelope);
  const kept = await jsonBytes(result.kept);
  const whole = Buffer.concat([Buffer.from('{"envelope":'), envelope, Buffer.from(',"kept":'), kept, Buffer.from("}")]);
  const sealed = seal.seal(whole, place(job.workspaceId, job.id));
  if (envelope.byteLength <= limits.sttJobInlineResultBytes) return { result: sealed, resultKey: null };
  const resultKey = `results/${job.id}/${job.attempt}`;
  await insist(insistence, onPut);
  // A disk that is full now may have room later (reliability J-10).
  await insist(
    insistence,
    () => objects.put(resultKey, onePiece(sealed), sealed.length),
    () => true,
  );
  return { result: null, resultKey };
}

/** Null when there is none any more, or it is purged between the row's reading and here. */
export async function loadResult(
  { seal, objects, parser }: Pick<JobServices, "seal" | "objects" | "parser">,
  row: Pick<JobRow, "id" | "workspace_id" | "result" | "result_key">,
): Promise<JobResult | null> {
  const sealed = row.result ?? (row.result_key === null ? null : await readWhole(objects, row.result_key));
  if (sealed === null) return null;
  const bytes = seal.open(sealed, place(row.workspace_id, row.id));
  return (await parseOwn(parser, bytes, row.workspace_id)) as JobResult;
}

function place(workspaceId: string, jobId: string): readonly string[] {
  return ["jobs.result", workspaceId, jobId];
}
