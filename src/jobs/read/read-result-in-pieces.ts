// Opens (decrypts) a job's stored result in pieces, because a large one would be in memory several times on its way from the row to the response.
import { brand } from "../../contract/ids.ts";
import type { AnswerRoom } from "../../lib/answer-room.ts";
import { freeBuffer } from "../../lib/free-buffer.ts";
import type { ConcurrencyLimits } from "../../lib/concurrency/keyed-semaphore.ts";
import { singleChunk } from "../../lib/buffered-body.ts";
import { ObjectMissing } from "../../objects/store.ts";
import { readResultPieces, type VisibleJob } from "../store/jobs.ts";
import { type PieceRange, piecesOf } from "../../storage/read-pieces.ts";
import type { JobServices } from "../services.ts";

/** Limits for large results. Reads of small ones never wait. */
export const MOST_RESULT_READS: ConcurrencyLimits = { total: 4, perKind: 4, perOwner: 2 };

export type ResultRow = Pick<VisibleJob, "id" | "workspace_id" | "result" | "result_bytes" | "result_key">;

/** Returns the sealed bytes. A piece is freed when the next one is requested. Null: there is no result, or it has expired. */
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

/** Large results are read a few at a time, round-robin by workspace. */
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
