// A job's result as it is stored: the envelope, and the times that only an export shows. Sealed, in the row or, when its envelope is
// large, in the object store [jobs.result-url].
import type { Segment, TranscriptionEnvelope, Word } from "../contract/transcription.ts";
import type { AnswerRoom } from "../lib/answer-room.ts";
import { jsonBytes } from "../lib/json/write-json.ts";
import { parseOwn } from "../lib/json/json-parser.ts";
import { singleChunk } from "../lib/buffered-body.ts";
import { type RetryPolicy, retryUntilDeadline } from "./retry-policy.ts";
import { openSealedResult, type ResultRow, withinResultReads } from "./read-result.ts";
import type { JobServices } from "./services.ts";
import { ValueGone } from "../storage/read-pieces.ts";
import { storedForm, takeEnvelope } from "./stored-result.ts";

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
  insistence: RetryPolicy,
  /** Told before what takes its time: in the row, the result is stored with the job's end. */
  onPut: () => Promise<unknown>,
): Promise<StoredResult> {
  const envelope = await jsonBytes(result.envelope);
  const kept = await jsonBytes(result.kept);
  const sealed = await seal.sealCompressed(storedForm(envelope, kept), place(job.workspaceId, job.id));
  if (envelope.byteLength <= limits.sttJobInlineResultBytes) return { result: sealed, resultKey: null };
  const resultKey = `results/${job.id}/${job.attempt}`;
  await retryUntilDeadline(insistence, onPut);
  // A disk that is full now may have room later [jobs.result-storage-retry].
  await retryUntilDeadline(
    insistence,
    () => objects.put(resultKey, singleChunk(sealed), sealed.length),
    () => true,
  );
  return { result: null, resultKey };
}

type ReadServices = Pick<JobServices, "seal" | "objects" | "database" | "resultReads">;

/** The envelope as JSON, as it was written. Null when there is none any more, or it is purged between the row's reading and here. */
export function loadEnvelope(services: ReadServices, row: ResultRow, room: AnswerRoom): Promise<Buffer | null> {
  return read(services, row, room, (stored) => takeEnvelope(stored, room));
}

/** Of a text that is parsed: its bytes, the same as text, and its values. */
const PARSED_TIMES = 4;

/** What `use` makes of all of it, null as above. Large ones one after the other until they are used. */
export function withResult<T>(
  services: ReadServices & Pick<JobServices, "parser">,
  row: ResultRow,
  room: AnswerRoom,
  use: (result: JobResult) => Promise<T>,
): Promise<T | null> {
  return read(services, row, room, async (stored) => {
    const pieces: Buffer[] = [];
    for await (const piece of stored) {
      room.reserve(PARSED_TIMES * piece.length);
      pieces.push(piece);
    }
    return use((await parseOwn(services.parser, Buffer.concat(pieces), row.workspace_id)) as JobResult);
  });
}

function read<T>(
  services: ReadServices,
  row: ResultRow,
  room: AnswerRoom,
  use: (stored: AsyncIterable<Buffer>) => Promise<T>,
): Promise<T | null> {
  return withinResultReads(services, row, room, async () => {
    const sealed = await openSealedResult(services, row);
    if (sealed === null) return null;
    try {
      return await use(services.seal.openPieces(sealed, place(row.workspace_id, row.id)));
    } catch (error) {
      if (error instanceof ValueGone) return null;
      throw error;
    }
  });
}

function place(workspaceId: string, jobId: string): readonly string[] {
  return ["jobs.result", workspaceId, jobId];
}
