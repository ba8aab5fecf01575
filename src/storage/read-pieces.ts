// Reads a large sealed value in pieces, because a driver holds a value in memory several times: as hexadecimal digits, as text and as bytes.
import { type Kysely, type RawBuilder, sql } from "kysely";
import { LARGE_COMPRESSED } from "./secrets/seal.ts";
import type { Tables } from "./schema/tables.ts";

const LARGEST_WITH_ROW_BYTES = 64 * 1024;
const LARGE = sql.lit(`\\x${LARGE_COMPRESSED.toString(16).padStart(2, "0")}`);

/** Whether a sealed value is read with its row's other columns. Needs only its length and first byte. */
export function isReadWithRow(column: RawBuilder<unknown>): RawBuilder<boolean> {
  return sql`(octet_length(${column}) <= ${sql.lit(LARGEST_WITH_ROW_BYTES)} and substring(${column} from 1 for 1) <> ${LARGE}::bytea)`;
}

/** The most that a driver reads without enlarging its buffers. */
const PIECE_BYTES = 16 * 1024;
/** Bytes per statement: a multiple of a piece. */
const READ_BYTES = 1024 * 1024;

export interface PieceRange {
  readonly from: number;
  readonly to: number;
}

/** Pieces of one row's value. Null: the value was deleted. Sealed bytes are stored uncompressed, so a piece can be read alone. */
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

/** The value was deleted while it was being read. */
export class ValueGone extends Error {
  override readonly name = "ValueGone";
}

/** Yields all pieces in order. Holds no connection between two reads. Throws `ValueGone`. */
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
