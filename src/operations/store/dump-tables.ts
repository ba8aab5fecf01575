// Dumps all rows of a database into one file per table, in one snapshot, and loads them into an empty database with the same migrations. For backups.
import { createReadStream } from "node:fs";
import { mkdir, open } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { sql, type Transaction } from "kysely";
import { z } from "zod";
import { listTables, type TableShape } from "./catalogue.ts";
import {
  insertRows,
  withoutTriggers,
  readRows,
  readSequence,
  sumUp,
  type TextRow,
  writeSequence,
} from "./copy-tables.ts";

export interface DumpedTable {
  readonly table: string;
  readonly rows: number;
  /** Digest of the rows' contents, in any order. */
  readonly digest: string;
}

/** The first line of a file. Each following line is a row: an array of text or null. */
const header = z.object({
  columns: z.array(z.object({ name: z.string(), type: z.string() })),
  sequences: z.record(z.string(), z.object({ last: z.string(), called: z.boolean() })),
});

const ROWS_AT_ONCE = 200;

/** Gives the transaction one snapshot, whatever other processes commit. These must be its first statements. */
export async function readOneMoment<T>(tx: Transaction<T>): Promise<void> {
  await sql`set transaction isolation level repeatable read, read only`.execute(tx);
  await sql`set local idle_in_transaction_session_timeout = 0`.execute(tx);
}

/** The caller's transaction must use one snapshot (`readOneMoment`). */
export async function dumpTables<T>(tx: Transaction<T>, directory: string): Promise<readonly DumpedTable[]> {
  await sql`set local timezone to 'UTC'`.execute(tx);
  await mkdir(directory, { mode: 0o700 });
  const results: DumpedTable[] = [];
  for (const table of await listTables(tx)) {
    await dumpTable(tx, table, join(directory, fileOf(table.name)));
    results.push({ table: table.name, ...(await sumUp(tx, table)) });
  }
  return results;
}

/** Throws if anything differs from the dump. */
export async function loadTables<T>(
  tx: Transaction<T>,
  directory: string,
  dumpedTables: readonly DumpedTable[],
): Promise<void> {
  await sql`set local idle_in_transaction_session_timeout = 0`.execute(tx);
  await sql`set local timezone to 'UTC'`.execute(tx);
  const expected = new Map(dumpedTables.map((each) => [each.table, each]));
  // `listTables` returns referenced tables first.
  for (const table of await listTables(tx)) {
    const dump = expected.get(table.name);
    if (dump === undefined) throw new Error(`the backup has no table ${table.name}`);
    expected.delete(table.name);
    await withoutTriggers(tx, table, async () => {
      await sql`delete from ${sql.table(table.name)}`.execute(tx);
      await loadTable(tx, table, join(directory, fileOf(table.name)));
      const { rows, digest } = await sumUp(tx, table);
      if (rows !== dump.rows || digest !== dump.digest)
        throw new Error(`${table.name} arrived different: ${rows} rows (${digest}), not ${dump.rows} (${dump.digest})`);
    });
  }
  if (expected.size > 0) throw new Error(`this version has no table ${[...expected.keys()].join(", ")}`);
}

function fileOf(table: string): string {
  return `${table}.jsonl`;
}

async function dumpTable<T>(tx: Transaction<T>, table: TableShape, path: string): Promise<void> {
  const file = await open(path, "wx", 0o600);
  try {
    const sequences: Record<string, Awaited<ReturnType<typeof readSequence>>> = {};
    for (const name of table.sequences) sequences[name] = await readSequence(tx, name);
    await file.writeFile(`${JSON.stringify({ columns: table.columns, sequences })}\n`);
    for await (const rows of readRows(tx, table))
      await file.writeFile(rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
  } finally {
    await file.close();
  }
}

async function loadTable<T>(tx: Transaction<T>, table: TableShape, path: string): Promise<void> {
  const lines = createInterface({ input: createReadStream(path), crlfDelay: Number.POSITIVE_INFINITY });
  let columns: TableShape["columns"] | null = null;
  let batch: TextRow[] = [];
  for await (const line of lines) {
    if (columns === null) {
      const { columns: fileColumns, sequences } = header.parse(JSON.parse(line));
      columns = fileColumns;
      for (const [name, state] of Object.entries(sequences)) {
        if (!table.sequences.includes(name)) throw new Error(`${table.name} has no sequence ${name}`);
        await writeSequence(tx, name, state);
      }
      if (JSON.stringify(columns) !== JSON.stringify(table.columns))
        throw new Error(`the table ${table.name} has other columns than in the backup`);
      continue;
    }
    batch.push(JSON.parse(line) as TextRow);
    if (batch.length < ROWS_AT_ONCE) continue;
    await insertRows(tx, table, batch);
    batch = [];
  }
  if (batch.length > 0) await insertRows(tx, table, batch);
}
