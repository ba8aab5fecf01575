// A job's stored result: the envelope, and the timestamps that only an export shows. It is sealed, and is in the row or, if the envelope is large, in the
// object store [jobs.result-url].
import type { Segment, TranscriptionEnvelope, Word } from "../../contract/transcription.ts";
import type { AnswerRoom } from "../../lib/answer-room.ts";
import { jsonBytes } from "../../lib/json/write-json.ts";
import { parseOwn } from "../../lib/json/json-parser.ts";
import { singleChunk } from "../../lib/buffered-body.ts";
import { type RetryPolicy, retryUntilDeadline } from "../run/retry-policy.ts";
import { openSealedResult, type ResultRow, withinResultReads } from "./read-result.ts";
import type { JobServices } from "../services.ts";
import { ValueGone } from "../../storage/read-pieces.ts";
import { storedForm, takeEnvelope } from "./stored-result.ts";

export interface JobResult {
  readonly envelope: TranscriptionEnvelope;
  /** The plain text, its segments and its words, whatever the envelope shows of them. */
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

type ReadServices = Pick<JobServices, "seal" | "objects" | "database" | "resultReads">;

/** Returns the envelope as JSON, byte by byte as it was stored. Null: there is no result, or it was purged after the row was read. */
export function loadEnvelope(services: ReadServices, row: ResultRow, room: AnswerRoom): Promise<Buffer | null> {
  return read(services, row, room, (stored) => takeEnvelope(stored, room));
}

/** Memory per byte of parsed JSON: the bytes, the same as a string, and the parsed values. */
const PARSED_TIMES = 4;

/** Returns what `use` makes of the whole result, or null as above. Large results take turns until they are used. */
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
      return await use(services.seal.openPieces(sealed, sealContext(row.workspace_id, row.id)));
    } catch (error) {
      if (error instanceof ValueGone) return null;
      throw error;
    }
  });
}

function sealContext(workspaceId: string, jobId: string): readonly string[] {
  return ["jobs.result", workspaceId, jobId];
}
