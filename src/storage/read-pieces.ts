// Reads a large sealed value in pieces. A driver holds a value several times over: as hexadecimal digits, as text and as bytes.
import { type Kysely, type RawBuilder, sql } from "kysely";
import { LARGE_COMPRESSED } from "./seal.ts";
import type { Tables } from "./tables.ts";

const LARGEST_WITH_ROW_BYTES = 64 * 1024;
const LARGE = sql.lit(`\\x${LARGE_COMPRESSED.toString(16).padStart(2, "0")}`);

/** Whether a sealed value is read with the other columns of its row: its length and its first byte are known without reading all of it. */
export function isReadWithRow(column: RawBuilder<unknown>): RawBuilder<boolean> {
  return sql`(octet_length(${column}) <= ${sql.lit(LARGEST_WITH_ROW_BYTES)} and substring(${column} from 1 for 1) <> ${LARGE}::bytea)`;
}

/** As long as a driver reads without enlarging its buffers. */
const PIECE_BYTES = 16 * 1024;
/** By one statement: a multiple of a piece. */
const READ_BYTES = 1024 * 1024;

export interface PieceRange {
  readonly from: number;
  readonly to: number;
}

/** Of the value of one row; null: there is none any more. Sealed bytes are stored uncompressed: a piece is read by itself. */
export async function readPieces(
  db: Kysely<Tables>,
  { from, to }: PieceRange,
  value: {
    readonly column: RawBuilder<unknown>;
    readonly rows: RawBuilder<unknown>;
    readonly where: RawBuilder<unknown>;
  },
): Promise<readonly Buffer[] | null> {
  const { rows } = await sql<{ piece: Buffer | null }>`
    select substring(${value.column} from first for ${sql.lit(PIECE_BYTES)}) as piece
    from ${value.rows}, generate_series(${from + 1}::int, ${to}::int, ${sql.lit(PIECE_BYTES)}) as first
    where ${value.where} order by first`.execute(db);
  const pieces = rows.map(({ piece }) => piece).filter((piece) => piece !== null);
  return pieces.length === 0 || pieces.length < rows.length ? null : pieces;
}

/** What was there when it was begun is gone. */
export class ValueGone extends Error {
  override readonly name = "ValueGone";
}

/** All of them in turn; no connection is held between two reads. Throws `ValueGone`. */
export async function* piecesOf(
  totalBytes: number,
  read: (range: PieceRange) => Promise<readonly Buffer[] | null>,
): AsyncGenerator<Buffer> {
  for (let from = 0; from < totalBytes; from += READ_BYTES) {
    const pieces = await read({ from, to: Math.min(totalBytes, from + READ_BYTES) });
    if (pieces === null) throw new ValueGone("the value was deleted while it was read");
    yield* pieces;
  }
}
