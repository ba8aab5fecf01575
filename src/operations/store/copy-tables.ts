// Copies every row of every table from one database to another as text, for `patchbay migrate-storage`. The same query digests both sides
// before the target commits.
import { type Kysely, sql, type Transaction } from "kysely";
import { listTables, type TableShape } from "./catalogue.ts";

const ROWS_AT_ONCE = 200;

export interface CopiedTable {
  readonly table: string;
  readonly rows: number;
  /** Digest of all rows' contents, independent of their order. */
  readonly digest: string;
}

/** Throws, so that the target rolls back, if anything arrives changed. Each side is one transaction throughout. */
export async function copyTables<T>(from: Transaction<T>, to: Transaction<T>): Promise<readonly CopiedTable[]> {
  // A transaction is idle on one side while the other side works.
  for (const side of [from, to]) await sql`set local idle_in_transaction_session_timeout = 0`.execute(side);
  const tables = await listTables(from);
  const targetShapes = new Map((await listTables(to)).map((table) => [table.name, table]));
  await sql`set local timezone to 'UTC'`.execute(from);
  await sql`set local timezone to 'UTC'`.execute(to);
  const results: CopiedTable[] = [];
  for (const table of tables) {
    const shape = targetShapes.get(table.name);
    if (shape === undefined || JSON.stringify(shape.columns) !== JSON.stringify(table.columns))
      throw new Error(`the table ${table.name} is not the same on the server`);
    await withoutTriggers(to, shape, async () => {
      await sql`delete from ${sql.table(table.name)}`.execute(to);
      await copyRows(from, to, table);
      results.push(await compare(from, to, table));
    });
    for (const sequence of table.sequences) await setSequence(from, to, sequence);
  }
  return results;
}

/** Columns of tables with data of a workspace or an operator. Tables without them contain bookkeeping that migrations create. */
const OWNER_COLUMNS: ReadonlySet<string> = new Set(["workspace_id", "scope", "managed_by"]);

/** Tables with data of a workspace or an operator: if there are any, the target is in use. */
export async function tablesInUse<T>(db: Kysely<T>): Promise<readonly string[]> {
  const tables: string[] = [];
  for (const { name, columns } of await listTables(db)) {
    if (!columns.some((column) => OWNER_COLUMNS.has(column.name))) continue;
    const { rows } = await sql<{ is: boolean }>`select exists (select from ${sql.table(name)}) as is`.execute(db);
    if (rows[0]?.is === true) tables.push(name);
  }
  return tables;
}

/** Disables the triggers, which enforce state transitions, because rows are copied in their final state. Enabled again before the commit. */
export async function withoutTriggers<T>(
  to: Transaction<T>,
  { name, isForced }: TableShape,
  work: () => Promise<void>,
): Promise<void> {
  const table = sql.table(name);
  await sql`alter table ${table} disable trigger user`.execute(to);
  if (isForced) await sql`alter table ${table} no force row level security`.execute(to);
  await work();
  // Checks foreign keys now, because a table with pending checks cannot be altered.
  await sql`set constraints all immediate`.execute(to);
  if (isForced) await sql`alter table ${table} force row level security`.execute(to);
  await sql`alter table ${table} enable trigger user`.execute(to);
}

async function copyRows<T>(from: Transaction<T>, to: Transaction<T>, table: TableShape): Promise<void> {
  for await (const rows of readRows(from, table)) await insertRows(to, table, rows);
}

/** A row's columns as text, in the order of the table's shape. Each type can read its own text form. */
export type TextRow = readonly (string | null)[];

/** Reads in batches through a cursor, because a table may be larger than memory. */
export async function* readRows<T>(
  from: Transaction<T>,
  { name, columns }: TableShape,
): AsyncGenerator<readonly TextRow[]> {
  const asText = sql.join(columns.map((column) => sql`${sql.id(column.name)}::text`));
  await sql`declare moved no scroll cursor for select array[${asText}] as row from ${sql.table(name)}`.execute(from);
  for (;;) {
    const { rows } = await sql<{ row: TextRow }>`fetch ${sql.lit(ROWS_AT_ONCE)} from moved`.execute(from);
    if (rows.length === 0) break;
    yield rows.map(({ row }) => row);
  }
  await sql`close moved`.execute(from);
}

export async function insertRows<T>(
  to: Transaction<T>,
  { name, columns }: Pick<TableShape, "name" | "columns">,
  rows: readonly TextRow[],
): Promise<void> {
  const names = sql.join(columns.map((column) => sql.id(column.name)));
  const casts = sql.join(columns.map(({ type }, index) => sql`c${sql.raw(String(index))}::${sql.raw(type)}`));
  const placeholders = sql.join(columns.map((_, index) => sql.raw(`c${index}`)));
  const byColumn = columns.map((_, index) => sql`${rows.map((row) => row[index] ?? null)}::text[]`);
  await sql`insert into ${sql.table(name)} (${names}) overriding system value
    select ${casts} from unnest(${sql.join(byColumn)}) as moved (${placeholders})`.execute(to);
}

async function compare<T>(from: Transaction<T>, to: Transaction<T>, table: TableShape): Promise<CopiedTable> {
  const [source, target] = [await sumUp(from, table), await sumUp(to, table)];
  if (source.rows !== target.rows || source.digest !== target.digest)
    throw new Error(
      `${table.name} arrived different: ${source.rows} rows (${source.digest}) here, ${target.rows} (${target.digest}) there`,
    );
  return { table: table.name, ...source };
}

/** Equal for equal contents, whatever the order of the rows. */
export async function sumUp<T>(db: Transaction<T>, { name, columns }: TableShape): Promise<Omit<CopiedTable, "table">> {
  const asText = sql.join(columns.map((column) => sql`${sql.id(column.name)}::text`));
  // Sums 60 bits of each row's hash exactly, so that order does not matter but a missing or changed row does.
  const { rows } = await sql<{ rows: string; digest: string }>`
    select count(*)::text as rows,
      coalesce(sum(('x' || substr(md5(row(${asText})::text), 1, 15))::bit(60)::bigint), 0)::text as digest
    from ${sql.table(name)}`.execute(db);
  return { rows: Number(rows[0]?.rows), digest: rows[0]?.digest ?? "" };
}

async function setSequence<T>(from: Transaction<T>, to: Transaction<T>, name: string): Promise<void> {
  await writeSequence(to, name, await readSequence(from, name));
}

export interface SequenceState {
  readonly last: string;
  readonly called: boolean;
}

export async function readSequence<T>(db: Transaction<T>, name: string): Promise<SequenceState> {
  const { rows } = await sql<SequenceState>`
    select last_value::text as last, is_called as called from ${sql.table(name)}`.execute(db);
  const [state] = rows;
  if (state === undefined) throw new Error(`the sequence ${name} has no state`);
  return state;
}

export async function writeSequence<T>(
  db: Transaction<T>,
  name: string,
  { last, called }: SequenceState,
): Promise<void> {
  await sql`select setval(${name}::regclass, ${last}::bigint, ${called})`.execute(db);
}
