// Fills a database as many finished jobs of many apps would have: copies one real job, with its call, request record, event and message, under the ids and times
// of a month of work. Each app gets a key, a budget and routes of its own.
import { Client } from "pg";
import { hashKey } from "../../src/auth/key-format.ts";
import { createSeal } from "../../src/storage/secrets/seal.ts";
import { KEY } from "../measure/processes.ts";

export interface Grown {
  /** Finished jobs. */
  readonly jobs: number;
  readonly apps: number;
  /** The apps are spread over them. */
  readonly workspaces: number;
  /** The jobs are spread over so many days. Those older than three are purged, as by the sweep. */
  readonly days: number;
}

export interface Secrets {
  readonly encryptionKey: Buffer;
  readonly pepper: string;
}

/** A finished job that can be polled, with the key of its app. */
export interface Polled {
  readonly path: string;
  readonly key: string;
}

const POLLED = 500;
/** As in `storage/schema`: ids sort by time, and have ten digits of milliseconds in base 32. */
const DIGITS = "0123456789abcdefghjkmnpqrstvwxyz";
const RESULT_DAYS = 3;
/** Completed messages older than this are deleted by the queue. */
const MESSAGE_DAYS = 1;

/** `source`: the job to copy, of the app with `KEY`. No gateway may run during the copy. */
export async function growTables(
  databaseUrl: string,
  source: string,
  grown: Grown,
  secrets: Secrets,
): Promise<readonly Polled[]> {
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    // A trigger prevents the insertion of ended jobs, and every inserted app would check its foreign keys.
    await client.query("set session_replication_role = replica");
    await client.query("set synchronous_commit = off");
    await client.query("set max_parallel_workers_per_gather = 0");
    await addApps(client, grown, secrets);
    await client.query(
      `create temp table finished as select n, 1 + n % $2::int as app, now() - make_interval(secs => ($1 - n) * $3::float8 * 86400 / $1 + 60) as at, '' as ending
       from generate_series(2, $1::int) as n`,
      [grown.jobs, grown.apps, grown.days],
    );
    await client.query(`update finished set ending = ${idEnding("at", "n")}`);
    await client.query("analyze finished");
    await copyRows(client, source);
    const polled = await readPolled(client, source, secrets);
    for (const table of GROWING) await client.query(`vacuum analyze ${table}`);
    await client.query("checkpoint");
    return polled;
  } finally {
    await client.end();
  }
}

export function keyOfApp(index: number): string {
  return index === 1 ? KEY : `bench-key-of-the-app-${String(index).padStart(6, "0")}`;
}

const GROWING = [
  "workspaces",
  "apps",
  "api_keys",
  "budgets",
  "budget_windows",
  "routes",
  "route_versions",
  "jobs",
  "attempts",
  "requests",
  "webhook_events",
  "pgboss.job_common",
];

/** The apps 2 to `apps`: copies of the app with `KEY`. */
async function addApps(client: Client, { apps, workspaces }: Grown, { pepper }: Secrets): Promise<void> {
  await client.query(
    `create temp table bench_apps as select 1 as n, id, workspace_id, (select id from api_keys where app_id = apps.id) as key_id from apps`,
  );
  const [first] = (await client.query<{ id: string; workspace_id: string }>("select id, workspace_id from bench_apps"))
    .rows;
  if (first === undefined) throw new Error("there is no app to copy");
  await client.query(
    `insert into bench_apps select n, left($1, 10) || lpad(n::text, 20, '0'),
       case when n % $4::int = 1 % $4::int then $2 else left($2, 9) || lpad((n % $4::int)::text, 20, '0') end,
       'key_01m0000000' || lpad(n::text, 16, '0')
     from generate_series(2, $3::int) as n`,
    [first.id, first.workspace_id, apps, workspaces],
  );
  await client.query("create unique index on bench_apps (n)");
  await client.query("analyze bench_apps");
  await client.query(
    `insert into workspaces (id, slug, managed_by) select distinct workspace_id, workspace_id, 'api' from bench_apps where workspace_id <> $1`,
    [first.workspace_id],
  );
  const hashes = Array.from({ length: Math.max(0, apps - 1) }, (_, index) =>
    hashKey(Buffer.from(pepper), keyOfApp(index + 2)),
  );
  await copyTable(client, "apps", "id = $1", [first.id], "bench_apps b where b.n > 1", {
    id: "b.id",
    workspace_id: "b.workspace_id",
    slug: "'app-' || b.n",
    settings: `jsonb_set(jsonb_set(settings, '{audioInputOverride}', to_jsonb('speech-' || b.n)), '{route}', to_jsonb('chat-' || b.n))`,
    managed_by: "'api'",
  });
  await copyTable(
    client,
    "api_keys",
    "app_id = $1",
    [first.id, hashes],
    "bench_apps b join unnest($2::bytea[]) with ordinality as h (hash, i) on h.i = b.n - 1 where b.n > 1",
    {
      id: "b.key_id",
      workspace_id: "b.workspace_id",
      app_id: "b.id",
      secret_hash: "h.hash",
      last4: "right(b.n::text, 4)",
      managed_by: "'api'",
    },
  );
  await copyTable(client, "budgets", "app_id = $1", [first.id], "bench_apps b where b.n > 1", {
    id: "b.id || '/month'",
    workspace_id: "b.workspace_id",
    app_id: "b.id",
    managed_by: "'api'",
  });
  await copyTable(client, "budget_windows", "budget_id = $1 || '/month'", [first.id], "bench_apps b where b.n > 1", {
    budget_id: "b.id || '/month'",
  });
  for (const id of ["speech", "chat"]) {
    await copyTable(client, "routes", "id = $1 and scope = 'platform'", [id], "bench_apps b where b.n > 1", {
      scope: "b.workspace_id",
      id: `'${id}-' || b.n`,
      managed_by: "'api'",
    });
    await copyTable(client, "route_versions", "route_id = $1", [id], "bench_apps b where b.n > 1", {
      scope: "b.workspace_id",
      route_id: `'${id}-' || b.n`,
    });
  }
  await client.query("update directory_state set version = version + 1");
}

async function copyRows(client: Client, source: string): Promise<void> {
  const others = "finished f join bench_apps b on b.n = f.app";
  const owner = { workspace_id: "b.workspace_id", app_id: "b.id" };
  const isPurged = `f.at < now() - interval '${RESULT_DAYS} days'`;
  const unlessPurged = (column: string) => `case when ${isPurged} then null else ${column} end`;
  await copyTable(client, "jobs", "s.id = $1", [source], others, {
    ...owner,
    id: "'job_' || f.ending",
    request_id: "'req_' || f.ending",
    key_id: "b.key_id",
    call_attempt_id: "'att_' || f.ending",
    woken_at: "f.at",
    created_at: "f.at",
    started_at: "f.at",
    finished_at: "f.at",
    deadline_at: "f.at + interval '6 hours'",
    expires_at: `f.at + interval '${RESULT_DAYS} days'`,
    purged_at: `case when ${isPurged} then f.at + interval '${RESULT_DAYS} days' end`,
    request: unlessPurged("request"),
    result: unlessPurged("result"),
  });
  await copyTable(client, "attempts", "s.id = (select call_attempt_id from jobs where id = $1)", [source], others, {
    ...owner,
    id: "'att_' || f.ending",
    request_id: "'req_' || f.ending",
    key_id: "b.key_id",
    created_at: "f.at",
    settled_at: "f.at",
    deadline_at: "f.at + interval '7 hours'",
    windows: `jsonb_build_array(jsonb_build_object('budget_id', b.id || '/month', 'window_start', date_trunc('month', f.at)))`,
  });
  await copyTable(client, "requests", "s.job_id = $1", [source], others, {
    ...owner,
    id: "'req_' || f.ending",
    key_id: "b.key_id",
    job_id: "'job_' || f.ending",
    at: "f.at",
    recorded_at: "f.at",
  });
  await copyTable(client, "webhook_events", "s.job_id = $1", [source], others, {
    ...owner,
    id: "'evt_' || f.ending",
    job_id: "'job_' || f.ending",
    occurred_at: "date_trunc('milliseconds', f.at)",
  });
  await copyTable(
    client,
    "pgboss.job_common",
    "s.data->>'job_id' = $1",
    [source],
    `${others} and f.at > now() - interval '${MESSAGE_DAYS} days'`,
    {
      id: "gen_random_uuid()",
      data: "jsonb_build_object('job_id', 'job_' || f.ending)",
      singleton_key: "'job_' || f.ending",
      group_id: "b.id",
      ...Object.fromEntries(
        ["start_after", "created_on", "started_on", "completed_on", "heartbeat_on"].map((name) => [name, "f.at"]),
      ),
      keep_until: "f.at + interval '14 days'",
    },
  );
  // What was added up before is not added up again.
  await client.query(
    "update usage_progress set rolled_until = now() - interval '1 minute', barrier_at = null, barrier_xid = null",
  );
}

/** Inserts a copy of the row of `table s` for each of `others`, with other values of some columns. */
async function copyTable(
  client: Client,
  table: string,
  where: string,
  values: readonly unknown[],
  others: string,
  changed: Readonly<Record<string, string>>,
): Promise<void> {
  const columns = await client.query<{ name: string }>(
    `select attname as name from pg_attribute where attrelid = $1::regclass and attnum > 0 and not attisdropped and attgenerated = ''`,
    [table],
  );
  const names = columns.rows.map(({ name }) => name);
  await client.query(
    `insert into ${table} (${names.map((name) => `"${name}"`).join(", ")})
     select ${names.map((name) => changed[name] ?? `s."${name}"`).join(", ")}
     from (select * from ${table} s where ${where}) s, ${others}`,
    [...values],
  );
}

function idEnding(at: string, n: string): string {
  const milliseconds = `(extract(epoch from ${at}) * 1000)::bigint`;
  const digits = Array.from(
    { length: 10 },
    (_, index) => `substr('${DIGITS}', ((${milliseconds} >> ${45 - 5 * index}) & 31)::int + 1, 1)`,
  );
  return `${digits.join(" || ")} || substr(md5(${n}::text), 1, 16)`;
}

/** A sealed result can only be opened for its own job, so those of the polled jobs are sealed again. */
async function readPolled(client: Client, source: string, { encryptionKey }: Secrets): Promise<readonly Polled[]> {
  const seal = createSeal({ keys: [encryptionKey] });
  const place = (workspaceId: string, id: string) => ["jobs.result", workspaceId, id];
  const copied = await client.query<{ workspace_id: string; result: Buffer }>(
    "select workspace_id, result from jobs where id = $1",
    [source],
  );
  const [row] = copied.rows;
  if (row === undefined) throw new Error("the job to copy is gone");
  const result = seal.open(row.result, place(row.workspace_id, source));
  const { rows } = await client.query<{ id: string; workspace_id: string; n: number }>(
    `select id, jobs.workspace_id, app as n from jobs join finished f on id = 'job_' || f.ending where result is not null order by md5(id) limit $1`,
    [POLLED],
  );
  for (const { id, workspace_id } of rows)
    await client.query("update jobs set result = $2 where id = $1", [id, seal.seal(result, place(workspace_id, id))]);
  return rows.map(({ id, n }) => ({ path: `/v1/transcription/jobs/${id}`, key: keyOfApp(n) }));
}
