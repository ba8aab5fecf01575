// Measures what one request stores in a PostgreSQL server: bytes of rows and indexes per table, and of write-ahead log (docs/scaling.md). `node
// bench/row-bytes.ts [n]`: n requests of each kind through HTTP, on one gateway.
import { sql } from "kysely";
import { wav } from "../test/audio/build-audio.ts";
import { KEY, standardFile, type TestGateway } from "../test/harness/gateway.ts";
import { table } from "./measure/report.ts";
import { openServerGateway } from "./measure/server-gateway.ts";
import { type OpenDatabase } from "../test/harness/postgres/database.ts";

const N = Number(process.argv[2] ?? "1000");
const AT_ONCE = 8;
const SOUND = new Blob([new Uint8Array(wav(1))]);
const AUTHORIZATION = { authorization: `Bearer ${KEY}` };
const KINDS: Readonly<Record<string, (gateway: TestGateway, at: number) => Promise<Response>>> = {
  transcription: (gateway) => upload(gateway, "/v1/transcription", {}),
  "transcription, Idempotency-Key": (gateway, at) =>
    upload(gateway, "/v1/transcription", { "idempotency-key": `row-bytes-${at}` }),
  chat: (gateway) =>
    fetch(`${gateway.origin}/v1/chat`, {
      method: "POST",
      headers: { ...AUTHORIZATION, "content-type": "application/json" },
      body: JSON.stringify({ messages: [{ role: "user", content: "How many bytes am I?" }] }),
    }),
  job: (gateway) => upload(gateway, "/v1/transcription/jobs", {}),
};

await using opened = await openServerGateway((own) => {
  const standard = standardFile(own);
  return {
    ...standard,
    connections: [...(standard.connections ?? []), { id: "talk", kind: "sandbox" as const }],
    routes: [
      {
        id: "speech",
        targets: [
          { connection: "dg", model: "nova-3" },
          { connection: "talk", model: "simulated-chat" },
        ],
      },
    ],
    workspaces: [
      {
        id: "acme",
        apps: [
          {
            id: "notes",
            route: "speech",
            keys: [{ id: "notes-key", secret: KEY, scopes: ["transcribe", "jobs", "chat"] }],
          },
        ],
      },
    ],
  };
});
const { gateway, database } = opened;

const rows = [];
for (const [kind, send] of Object.entries(KINDS)) {
  await Promise.all(Array.from({ length: 20 }, (_, at) => expectSuccess(send(gateway, -1 - at))));
  await settled(database);
  const [before, walBefore] = [await sizes(database), await wal(database)];
  let next = 0;
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      while (next < N) await expectSuccess(send(gateway, next++));
    }),
  );
  await settled(database);
  const walBytes = (await wal(database)) - walBefore;
  const grown = [...(await sizes(database))].map(
    ([name, bytes]) => [name, (bytes - (before.get(name) ?? 0)) / N] as const,
  );
  const total = grown.reduce((sum, [, bytes]) => sum + Math.max(0, bytes), 0);
  rows.push({
    kind,
    n: N,
    "bytes kept": Math.round(total),
    "of these": grown
      .filter(([, bytes]) => bytes >= 16)
      .toSorted((one, other) => other[1] - one[1])
      .map(([name, bytes]) => `${name} ${Math.round(bytes)}`)
      .join(", "),
    "bytes of WAL": Math.round(walBytes / N),
  });
}
console.log(table(rows));

function upload({ origin }: TestGateway, path: string, headers: Readonly<Record<string, string>>): Promise<Response> {
  const form = new FormData();
  form.append("file", SOUND, "a.wav");
  return fetch(`${origin}${path}`, { method: "POST", headers: { ...AUTHORIZATION, ...headers }, body: form });
}

async function expectSuccess(reply: Promise<Response>): Promise<void> {
  const response = await reply;
  const text = await response.text();
  if (!response.ok) throw new Error(text);
}

/** Waits until jobs have ended and batches are written. */
async function settled({ db }: OpenDatabase): Promise<void> {
  for (let quiet = 0, last = -1; quiet < 4; ) {
    const { n } = await db
      .selectFrom("jobs")
      .select(({ fn }) => fn.countAll<string>().as("n"))
      .where("status", "in", ["queued", "processing"])
      .executeTakeFirstOrThrow();
    const { n: requests } = await db
      .selectFrom("requests")
      .select(({ fn }) => fn.countAll<string>().as("n"))
      .executeTakeFirstOrThrow();
    const now = Number(n) === 0 ? Number(requests) : -2;
    quiet = now === last ? quiet + 1 : 0;
    last = now;
    await new Promise((resolve) => setTimeout(resolve, 600));
  }
}

async function sizes({ db }: OpenDatabase): Promise<ReadonlyMap<string, number>> {
  const { rows: found } = await sql<{ name: string; bytes: string }>`
    select n.nspname || '.' || c.relname as name, pg_total_relation_size(c.oid) as bytes
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where c.relkind = 'r' and n.nspname not in ('pg_catalog', 'information_schema', 'pg_toast')`.execute(db);
  return new Map(found.map(({ name, bytes }) => [name.replace(/^public\./u, ""), Number(bytes)]));
}

async function wal({ db }: OpenDatabase): Promise<number> {
  const { rows: found } = await sql<{
    bytes: string;
  }>`select pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0') as bytes`.execute(db);
  return Number(found[0]?.bytes ?? 0);
}
