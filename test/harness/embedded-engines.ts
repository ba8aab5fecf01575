// Embedded engines for tests: starting one costs a second, so a process that runs several test files starts one and empties it
// between them. Only what is again as it was at the start is given out; anything else is thrown away, and a new one started.
import type { Duplex } from "node:stream";
import { Client } from "pg";
import { type EmbeddedEngine, startInMemory } from "../../src/storage/pglite.ts";

/** What a migrated database without any data looks like. */
interface Beginning {
  readonly catalogue: string;
  readonly functions: readonly string[];
  readonly rows: readonly { readonly name: string; readonly rows: string }[];
  readonly sequences: readonly { readonly name: string; readonly value: string; readonly isCalled: boolean }[];
}

type Asked = Pick<Client, "query">;

interface Engine {
  readonly embedded: EmbeddedEngine;
  beginning: Beginning | null;
}

let isKept = false;

/** For a process that runs several files; it must end what is idle when it has run them. */
export function keepEngines(): void {
  isKept = true;
}

export async function endIdleEngines(): Promise<void> {
  isKept = false;
  for (const { embedded } of idle.splice(0)) await embedded.close();
}

/** As many as most test files have open at once. */
const MOST_IDLE = 2;
const idle: Engine[] = [];

export interface BorrowedEngine extends EmbeddedEngine {
  /** Of a database that has been migrated and holds nothing yet. */
  readonly remember: (pool: Asked) => Promise<void>;
}

/** What a test file left running does not reach the next one's database: its connections end with its turn. */
export async function borrowEngine(dump: () => Promise<Uint8Array<ArrayBuffer>>): Promise<BorrowedEngine> {
  const engine = (await takeIdle()) ?? { embedded: await startInMemory(await dump()), beginning: null };
  const opened: Duplex[] = [];
  let isOver = false;
  return {
    connect: () => {
      const stream = engine.embedded.connect();
      if (isOver) stream.destroy();
      opened.push(stream);
      return stream;
    },
    dump: engine.embedded.dump,
    remember: async (pool) => {
      engine.beginning ??= await lookAt(pool);
    },
    close: async () => {
      isOver = true;
      for (const stream of opened) stream.destroy();
      if (!isKept || engine.beginning === null || idle.length >= MOST_IDLE) await engine.embedded.close();
      else idle.push(engine);
    },
  };
}

async function takeIdle(): Promise<Engine | null> {
  const engine = idle.pop();
  const beginning = engine?.beginning ?? null;
  if (engine === undefined || beginning === null) return null;
  try {
    if (await onEngine(engine.embedded, (client) => empty(client, beginning))) return engine;
  } catch {
    // In a state that no statement gets it out of.
  }
  await engine.embedded.close().catch(() => undefined);
  return null;
}

/** On a connection of its own, for which the one before must have ended or wait. */
async function onEngine<T>(embedded: EmbeddedEngine, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ user: "postgres", database: "postgres", ssl: false, stream: embedded.connect });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

async function lookAt(client: Asked): Promise<Beginning> {
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

/** Whether it is now what it was at its beginning. */
async function empty(client: Asked, { catalogue, functions, rows, sequences }: Beginning): Promise<boolean> {
  // The clock is a function that tests replace.
  await client.query(functions.join(";\n"));
  // Rules of the tables, append-only ones among them, are for those who use them.
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

/** A row of a catalogue that was added or changed has a later `xmin`; one that is gone is missing in the count. */
const CATALOGUES = [
  "pg_attrdef",
  "pg_attribute",
  "pg_auth_members",
  "pg_authid",
  "pg_constraint",
  "pg_db_role_setting",
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

/** What emptying a table, or counting its rows, changes. */
const VOLATILE = `'{relfilenode,relpages,reltuples,relallvisible,relallfrozen,relfrozenxid,relminmxid}'::text[]`;

async function column(client: Asked, statement: string): Promise<readonly string[]> {
  return (await client.query<{ value: string }>(statement)).rows.map(({ value }) => value);
}
