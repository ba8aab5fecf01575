// Lists Patchbay's tables from the database's catalogue, referenced tables first. Backups and migrations use the list, so that no new table is
// forgotten.
import { type Kysely, sql } from "kysely";

export interface TableShape {
  readonly name: string;
  /** Stored columns. Generated columns are computed again. */
  readonly columns: readonly { readonly name: string; readonly type: string }[];
  /** Sequences that belong to its columns. */
  readonly sequences: readonly string[];
  /** Whether row-level security applies to the owner too. */
  readonly isForced: boolean;
}

/** The migrator's tables, which record what ran in each database. */
const MIGRATOR_TABLE = /^kysely_/u;

export async function listTables<T>(db: Kysely<T>): Promise<readonly TableShape[]> {
  const { rows } = await sql<TableShape & { readonly refersTo: readonly string[] }>`
    select c.relname as name, c.relforcerowsecurity as "isForced",
      (select jsonb_agg(jsonb_build_object('name', a.attname, 'type', format_type(a.atttypid, a.atttypmod)) order by a.attnum)
        from pg_attribute a where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = '') as columns,
      coalesce((select jsonb_agg(s.relname order by s.relname) from pg_depend d join pg_class s on s.oid = d.objid
        where d.refobjid = c.oid and s.relkind = 'S' and d.classid = 'pg_class'::regclass and d.deptype in ('a', 'i')), '[]'::jsonb) as sequences,
      coalesce((select jsonb_agg(distinct r.relname) from pg_constraint f join pg_class r on r.oid = f.confrelid
        where f.conrelid = c.oid and f.contype = 'f' and r.oid <> c.oid), '[]'::jsonb) as "refersTo"
    from pg_class c where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
    order by c.relname`.execute(db);
  return sortByReferences(rows.filter(({ name }) => !MIGRATOR_TABLE.test(name)));
}

export async function countRows<T>(db: Kysely<T>): Promise<Readonly<Record<string, number>>> {
  const counts: Record<string, number> = {};
  for (const { name } of await listTables(db)) {
    const { rows } = await sql<{ n: string }>`select count(*)::text as n from ${sql.table(name)}`.execute(db);
    counts[name] = Number(rows[0]?.n);
  }
  return counts;
}

function sortByReferences(
  tables: readonly (TableShape & { readonly refersTo: readonly string[] })[],
): readonly TableShape[] {
  const sorted = new Map<string, TableShape>();
  while (sorted.size < tables.length) {
    const next = tables.filter(
      ({ name, refersTo }) => !sorted.has(name) && refersTo.every((other) => sorted.has(other)),
    );
    if (next.length === 0) throw new Error("tables refer to each other in a circle");
    for (const { refersTo: _, ...table } of next) sorted.set(table.name, table);
  }
  return [...sorted.values()];
}
