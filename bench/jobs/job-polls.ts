// Compares polls with 1,000 and with 1,000,000 finished jobs: two gateways on two databases of one server, polled in turns, so that a busy machine slows both.
// Goal: at most 1.2 times as slow.
import { randomBytes } from "node:crypto";
import { Client } from "pg";
import { createSeal, type Seal } from "../../src/storage/secrets/seal.ts";
import type { Running } from "../measure/child-process.ts";
import { startDatabases } from "../measure/databases.ts";
import { submitUpload, waitForJob } from "./job-api.ts";
import { KEY, runLoad, startPatchbay, startStandIn } from "../measure/processes.ts";
import { quantile, type Report, round } from "../measure/report.ts";
import { noiseWav, SEED } from "../upstream/wav.ts";

export interface JobPollsBench {
  readonly few: number;
  readonly many: number;
  /** Of each gateway. */
  readonly polls: number;
}

const ROUNDS = 6;
const CONNECTIONS = 4;
const AUDIO_BYTES = 64_044;
const ASKED_FOR = 2_000;
const LARGEST_RATIO = 1.2;

interface Table {
  readonly jobs: number;
  readonly gateway: Running;
  readonly paths: readonly string[];
  readonly latenciesMs: number[];
}

export async function benchJobPolls({ few, many, polls }: JobPollsBench): Promise<Report> {
  await using databases = await startDatabases();
  const encryptionKey = randomBytes(32);
  await using standIn = await startStandIn();
  await using resources = new AsyncDisposableStack();
  const open = async (jobs: number): Promise<Table> => {
    const databaseUrl = await databases.create();
    const gateway = await startPatchbay({ providerUrl: standIn.origin, databaseUrl, encryptionKey });
    resources.use(gateway);
    const paths = await fill(gateway, { databaseUrl, encryptionKey }, jobs);
    return { jobs, gateway, paths, latenciesMs: [] };
  };
  const tables = [await open(few), await open(many)] as const;
  for (const table of tables) await poll(table, ASKED_FOR);
  for (let turn = 0; turn < ROUNDS; turn += 1)
    for (const table of tables) table.latenciesMs.push(...(await poll(table, Math.ceil(polls / ROUNDS))));
  const [small, large] = tables.map(({ jobs, latenciesMs }) => ({
    jobs,
    polls: latenciesMs.length,
    p50Ms: round(quantile(latenciesMs, 0.5), 2),
    p99Ms: round(quantile(latenciesMs, 0.99), 2),
  }));
  if (small === undefined || large === undefined) throw new Error("two tables were measured");
  const ratio = round(large.p99Ms / small.p99Ms, 3);
  const holds = ratio <= LARGEST_RATIO;
  if (!holds) process.exitCode = 1;
  return {
    name: "job-polls",
    rows: [small, large].map((each) => ({
      "finished jobs": each.jobs,
      polls: each.polls,
      "p50 ms": each.p50Ms,
      "p99 ms": each.p99Ms,
    })),
    notes: [
      `p99 ratio ${ratio} (at most ${LARGEST_RATIO}: ${holds ? "holds" : "FAILS"}), over ${CONNECTIONS} connections, in ${ROUNDS} alternating rounds`,
    ],
    data: { engine: "postgres", seed: SEED, small, large, ratio, holds },
  };
}

async function poll({ gateway, paths }: Table, requests: number): Promise<readonly number[]> {
  const result = await runLoad({
    origin: gateway.origin,
    request: { kind: "get", paths },
    connections: CONNECTIONS,
    seconds: 600,
    maxRequests: requests,
    key: KEY,
  });
  if (result.firstFault !== null) throw new Error(`A poll failed: ${result.firstFault}`);
  return result.latenciesMs;
}

interface Storage {
  readonly databaseUrl: string;
  readonly encryptionKey: Buffer;
}

/**
 * Copies one real job under other ids, whose order differs from that of the rows, so that polls are spread over the whole table. Results of jobs that are not
 * polled are cut to 400 bytes: a million whole ones are 15 GB that no poll would read.
 */
async function fill(
  gateway: Running,
  { databaseUrl, encryptionKey }: Storage,
  jobs: number,
): Promise<readonly string[]> {
  const jobId = await submitUpload(gateway.origin, KEY, noiseWav(AUDIO_BYTES));
  await waitForJob(gateway.origin, KEY, jobId);
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    // A trigger prevents the insertion of ended jobs, so it is disabled here.
    await client.query("set session_replication_role = replica");
    await client.query("set synchronous_commit = off");
    const columns = await client.query<{ name: string }>(
      "select quote_ident(attname) as name from pg_attribute where attrelid = 'jobs'::regclass and attnum > 0 and not attisdropped",
    );
    const names = columns.rows.map(({ name }) => name);
    const values = names.map((name) => {
      if (name === "id") return "left(id, 4) || substr(md5(n::text), 1, 26)";
      if (name === "result") return "substr(result, 1, 400)";
      // Sweeps must find no work in the copies: it would slow only one table's gateway.
      return name === "slot_key" || name === "audio_key" ? "null" : name;
    });
    await client.query(
      `insert into jobs (${names.join(", ")}) select ${values.join(", ")} from jobs, generate_series(2, $2::int) as n where id = $1`,
      [jobId, jobs],
    );
    const sample = await client.query<{ id: string }>("select id from jobs where id <> $2 order by md5(id) limit $1", [
      ASKED_FOR,
      jobId,
    ]);
    const ids = sample.rows.map(({ id }) => id);
    await reseal(client, createSeal({ keys: [encryptionKey] }), jobId, ids);
    await client.query("vacuum analyze jobs");
    await client.query("checkpoint");
    return ids.map((id) => `/v1/transcription/jobs/${id}`);
  } finally {
    await client.end();
  }
}

/** A sealed result can only be opened for its own job, so it is sealed again. */
async function reseal(client: Client, seal: Seal, jobId: string, ids: readonly string[]): Promise<void> {
  const { rows } = await client.query<{ workspace_id: string; result: Buffer }>(
    "select workspace_id, result from jobs where id = $1",
    [jobId],
  );
  const [copied] = rows;
  if (copied === undefined) throw new Error("the job to copy is gone");
  const place = (id: string) => ["jobs.result", copied.workspace_id, id];
  const result = seal.open(copied.result, place(jobId));
  for (const id of ids)
    await client.query("update jobs set result = $2 where id = $1", [id, seal.seal(result, place(id))]);
}
