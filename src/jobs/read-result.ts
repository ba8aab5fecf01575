// Reads a job's result from where it is kept, in pieces: a large one would be held several times over on its way from its row to an answer.
import { brand } from "../contract/ids.ts";
import type { AnswerRoom } from "../lib/answer-room.ts";
import { freeBuffer } from "../lib/free-buffer.ts";
import type { ConcurrencyLimits } from "../lib/concurrency/keyed-semaphore.ts";
import { singleChunk } from "../lib/buffered-body.ts";
import { ObjectMissing } from "../objects/store.ts";
import { readResultPieces, type VisibleJob } from "../storage/jobs.ts";
import { type PieceRange, piecesOf } from "../storage/read-pieces.ts";
import type { JobServices } from "./services.ts";

/** Of large results: the reads of small ones never wait. */
export const MOST_RESULT_READS: ConcurrencyLimits = { total: 4, perKind: 4, perOwner: 2 };

export type ResultRow = Pick<VisibleJob, "id" | "workspace_id" | "result" | "result_bytes" | "result_key">;

/** Its sealed bytes; a piece is gone when the next one is asked for. Null: it has none, or none any more. */
export async function openSealedResult(
  services: Pick<JobServices, "database" | "objects">,
  row: ResultRow,
): Promise<AsyncIterable<Uint8Array> | null> {
  if (row.result !== null) return singleChunk(row.result);
  if (row.result_bytes !== null) return readRow(services, row, row.result_bytes);
  if (row.result_key === null) return null;
  try {
    return await services.objects.open(row.result_key);
  } catch (error) {
    if (error instanceof ObjectMissing) return null;
    throw error;
  }
}

/** Large results are read a few at a time, and workspaces wait in turn. */
export function withinResultReads<T>(
  { resultReads }: Pick<JobServices, "resultReads">,
  row: ResultRow,
  room: AnswerRoom,
  read: () => Promise<T>,
): Promise<T> {
  const isLarge = row.result === null && (row.result_bytes !== null || row.result_key !== null);
  return isLarge ? resultReads.run("results", room.signal, read, row.workspace_id) : read();
}

async function* readRow(
  { database }: Pick<JobServices, "database">,
  row: ResultRow,
  totalBytes: number,
): AsyncGenerator<Uint8Array> {
  const read = (range: PieceRange) =>
    database.inWorkspace(brand("workspace", row.workspace_id), (tx) => readResultPieces(tx, row, range));
  for await (const piece of piecesOf(totalBytes, read)) {
    yield piece;
    freeBuffer(piece);
  }
}
