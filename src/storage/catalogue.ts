// Our tables as the database itself describes them, those that others refer to first: what a backup counts and a move copies, so
// that a table added later cannot be forgotten.
import { type Kysely, sql } from "kysely";

export interface TableShape {
  readonly name: string;
  /** Those that hold something; what is computed from others is computed again. */
  readonly columns: readonly { readonly name: string; readonly type: string }[];
  /** Sequences behind its columns. */
  readonly sequences: readonly string[];
  /** Row-level security that binds the owner too. */
  readonly isForced: boolean;
}

/** The migrator's own: every database has its own account of what ran in it. */
const OF_THE_MIGRATOR = /^kysely_/u;

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
  return inOrder(rows.filter(({ name }) => !OF_THE_MIGRATOR.test(name)));
}

export async function countRows<T>(db: Kysely<T>): Promise<Readonly<Record<string, number>>> {
  const counts: Record<string, number> = {};
  for (const { name } of await listTables(db)) {
    const { rows } = await sql<{ n: string }>`select count(*)::text as n from ${sql.table(name)}`.execute(db);
    counts[name] = Number(rows[0]?.n);
  }
  return counts;
}

function inOrder(tables: readonly (TableShape & { readonly refersTo: readonly string[] })[]): readonly TableShape[] {
  const placed = new Map<string, TableShape>();
  while (placed.size < tables.length) {
    const next = tables.filter(
      ({ name, refersTo }) => !placed.has(name) && refersTo.every((other) => placed.has(other)),
    );
    if (next.length === 0) throw new Error("tables refer to each other in a circle");
    for (const { refersTo: _, ...table } of next) placed.set(table.name, table);
  }
  return [...placed.values()];
}
