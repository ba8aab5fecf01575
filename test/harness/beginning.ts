// Resets a used database to the state of a migrated, empty one: tests share databases one after the other, because creating one takes much longer than emptying
// it.
import type { Client } from "pg";

export interface Beginning {
  readonly catalogue: string;
  readonly functions: readonly string[];
  readonly rows: readonly { readonly name: string; readonly rows: string }[];
  readonly sequences: readonly { readonly name: string; readonly value: string; readonly isCalled: boolean }[];
}

export type Asked = Pick<Client, "query">;

export async function lookAt(client: Asked): Promise<Beginning> {
  const catalogue = await catalogueOf(client);
  const functions = await column(
    client,
    `select pg_get_functiondef(oid) as value from pg_proc where proname = 'patchbay_now'`,
  );
  const rows: { name: string; rows: string }[] = [];
  for (const name of await filledTables(client)) {
    const [all] = await column(client, `select coalesce(json_agg(t), '[]')::text as value from ${name} t`);
    if (all !== undefined && all !== "[]") rows.push({ name, rows: all });
  }
  const sequences: { name: string; value: string; isCalled: boolean }[] = [];
  for (const name of await column(client, `select oid::regclass::text as value from pg_class where relkind = 'S'`)) {
    const read = await client.query<{ value: string; is_called: boolean }>(
      `select last_value::text as value, is_called from ${name}`,
    );
    for (const { value, is_called } of read.rows) sequences.push({ name, value, isCalled: is_called });
  }
  return { catalogue, functions, rows, sequences };
}

/** Returns whether it equals its initial state. */
export async function empty(client: Asked, beginning: Beginning): Promise<boolean> {
  const { catalogue, functions, rows, sequences } = beginning;
  // The clock is a function that tests replace.
  await client.query(functions.join(";\n"));
  // Disables triggers, such as those of append-only tables.
  await client.query("set session_replication_role = replica");
  const filled = await filledTables(client);
  if (filled.length > 0) await client.query(`truncate ${filled.join(", ")} cascade`);
  for (const { name, rows: all } of rows)
    await client.query(`insert into ${name} select * from json_populate_recordset(null::${name}, $1::json)`, [all]);
  for (const { name, value, isCalled } of sequences)
    await client.query(`select setval($1::regclass, $2::bigint, $3)`, [name, value, isCalled]);
  await client.query("reset session_replication_role");
  return (await catalogueOf(client)) === catalogue;
}

async function filledTables(client: Asked): Promise<readonly string[]> {
  return column(
    client,
    `select oid::regclass::text as value from pg_class where relkind = 'r' and oid >= 16384 and pg_relation_size(oid) > 0`,
  );
}

/** A changed or added row of a catalogue has a later `xmin`; a removed one changes the count. */
const CATALOGUES = [
  "pg_attrdef",
  "pg_attribute",
  "pg_constraint",
  "pg_default_acl",
  "pg_description",
  "pg_event_trigger",
  "pg_extension",
  "pg_index",
  "pg_inherits",
  "pg_largeobject_metadata",
  "pg_policy",
  "pg_rewrite",
  "pg_sequence",
  "pg_statistic_ext",
  "pg_trigger",
  "pg_type",
];

async function catalogueOf(client: Asked): Promise<string> {
  const counts = CATALOGUES.map(
    (name) => `select '${name} ' || count(*) || ' ' || max(xmin::text::bigint) as line from ${name}`,
  );
  const [all = ""] = await column(
    client,
    `select string_agg(line, E'\\n' order by line) as value from (
      ${counts.join(" union all ")}
      union all select 'function ' || oid || ' ' || md5(p.*::text) from pg_proc p where oid >= 16384
      union all select 'schema ' || md5(n.*::text) from pg_namespace n
      union all select 'relation ' || (to_jsonb(c) - ${VOLATILE})::text from pg_class c where oid >= 16384
      union all select 'setting ' || name || ' ' || setting || ' ' || source from pg_settings where source <> 'default'
    ) lines`,
  );
  return all;
}

/** Columns that change when a table is emptied or analysed. */
const VOLATILE = `'{relfilenode,relpages,reltuples,relallvisible,relallfrozen,relfrozenxid,relminmxid}'::text[]`;

async function column(client: Asked, statement: string): Promise<readonly string[]> {
  return (await client.query<{ value: string }>(statement)).rows.map(({ value }) => value);
}
