// Loads a job's stored result: the envelope, and the timestamps that only an export shows. It is sealed, and is in the row or, if the envelope is large, in
// the object store [jobs.result-url].
import type { AnswerRoom } from "../../lib/answer-room.ts";
import { parseOwn } from "../../lib/json/json-parser.ts";
import { openSealedResult, type ResultRow, withinResultReads } from "./read-result-in-pieces.ts";
import type { JobServices } from "../services.ts";
import { ValueGone } from "../../storage/read-pieces.ts";
import { takeEnvelope, sealContext } from "./stored-result-format.ts";
import type { JobResult } from "../run/store-result.ts";

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
