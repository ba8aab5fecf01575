// Every row of every table from one database to another, as text, which each type reads back as what it was (`patchbay
// migrate-storage`). Both sides are summed up by the same query before the target commits.
import { type Kysely, sql, type Transaction } from "kysely";
import { listTables, type TableShape } from "./catalogue.ts";

const ROWS_AT_ONCE = 200;

export interface CopiedTable {
  readonly table: string;
  readonly rows: number;
  /** Of all its rows' contents, in whatever order they lie. */
  readonly digest: string;
}

/** Throws, and the target rolls back, when anything arrives different. Both are one transaction throughout. */
export async function copyTables<T>(from: Transaction<T>, to: Transaction<T>): Promise<readonly CopiedTable[]> {
  const tables = await listTables(from);
  const there = new Map((await listTables(to)).map((table) => [table.name, table]));
  await sql`set local timezone to 'UTC'`.execute(from);
  await sql`set local timezone to 'UTC'`.execute(to);
  const copied: CopiedTable[] = [];
  for (const table of tables) {
    const shape = there.get(table.name);
    if (shape === undefined || JSON.stringify(shape.columns) !== JSON.stringify(table.columns))
      throw new Error(`the table ${table.name} is not the same on the server`);
    await isolated(to, shape, async () => {
      await sql`delete from ${sql.table(table.name)}`.execute(to);
      await copyRows(from, to, table);
      copied.push(await compare(from, to, table));
    });
    for (const sequence of table.sequences) await setSequence(from, to, sequence);
  }
  return copied;
}

/** A row with one of these belongs to somebody, or was set up by somebody. What has none is bookkeeping that migrations begin. */
const OF_SOMEBODY: ReadonlySet<string> = new Set(["workspace_id", "scope", "managed_by"]);

/** Tables that hold what is somebody's: a target that is in use. */
export async function tablesInUse<T>(db: Kysely<T>): Promise<readonly string[]> {
  const used: string[] = [];
  for (const { name, columns } of await listTables(db)) {
    if (!columns.some((column) => OF_SOMEBODY.has(column.name))) continue;
    const { rows } = await sql<{ is: boolean }>`select exists (select from ${sql.table(name)}) as is`.execute(db);
    if (rows[0]?.is === true) used.push(name);
  }
  return used;
}

/** Our triggers guard what a process does, step by step; here rows come as they ended. Undone before anybody else sees the table. */
export async function isolated<T>(
  to: Transaction<T>,
  { name, isForced }: TableShape,
  work: () => Promise<void>,
): Promise<void> {
  const table = sql.table(name);
  await sql`alter table ${table} disable trigger user`.execute(to);
  if (isForced) await sql`alter table ${table} no force row level security`.execute(to);
  await work();
  // What refers to other rows is checked now: a table with such checks pending cannot be altered.
  await sql`set constraints all immediate`.execute(to);
  if (isForced) await sql`alter table ${table} force row level security`.execute(to);
  await sql`alter table ${table} enable trigger user`.execute(to);
}

async function copyRows<T>(from: Transaction<T>, to: Transaction<T>, table: TableShape): Promise<void> {
  for await (const rows of readRows(from, table)) await insertRows(to, table, rows);
}

/** A row's columns as text, in the order of the table's shape; each type reads back what it wrote. */
export type TextRow = readonly (string | null)[];

/** In batches, through a cursor: a table may be larger than memory. */
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
  const back = sql.join(columns.map(({ type }, index) => sql`c${sql.raw(String(index))}::${sql.raw(type)}`));
  const places = sql.join(columns.map((_, index) => sql.raw(`c${index}`)));
  const byColumn = columns.map((_, index) => sql`${rows.map((row) => row[index] ?? null)}::text[]`);
  await sql`insert into ${sql.table(name)} (${names}) overriding system value
    select ${back} from unnest(${sql.join(byColumn)}) as moved (${places})`.execute(to);
}

async function compare<T>(from: Transaction<T>, to: Transaction<T>, table: TableShape): Promise<CopiedTable> {
  const [here, there] = [await sumUp(from, table), await sumUp(to, table)];
  if (here.rows !== there.rows || here.digest !== there.digest)
    throw new Error(
      `${table.name} arrived different: ${here.rows} rows (${here.digest}) here, ${there.rows} (${there.digest}) there`,
    );
  return { table: table.name, ...here };
}

/** The same for equal contents, whatever the order of the rows. */
export async function sumUp<T>(db: Transaction<T>, { name, columns }: TableShape): Promise<Omit<CopiedTable, "table">> {
  const asText = sql.join(columns.map((column) => sql`${sql.id(column.name)}::text`));
  // 60 bits of each row's hash, added up exactly: the order of rows does not count, a missing or changed one does.
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
