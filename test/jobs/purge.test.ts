// After its time nothing of what was spoken, sent or fetched is anywhere on disk [jobs.result-retention]: the data directory, the files of
// the database and its log are searched byte by byte, and so is a dump. In plain text it never was there [jobs.encrypted-at-rest].
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { sql } from "kysely";
import { startSandbox } from "../../sandbox/server.ts";
import { vacuumPurged } from "../../src/storage/vacuum.ts";
import { noise, patch } from "../audio/build-audio.ts";
import { get, postJson, speech } from "../harness/client.ts";
import { type OpenDatabase, openTestDatabase } from "../harness/postgres/database.ts";
import { startGateway } from "../harness/gateway.ts";
import { type RemoteGateway, remoteFile, serve, startRemoteGateway } from "../http/audio-url/setup.ts";
import { ended, JOBS, submit, submittedOf } from "../http/jobs/jobs.ts";
import { dumpTables, pass } from "./setting.ts";

const AUDIO_CANARY = Buffer.from(noise(256, 77));
const heard = (): Uint8Array => patch(speech(), 40_000, AUDIO_CANARY);
const URL_CANARY = "canary-of-the-signed-url";
const PROMPT_CANARY = "canary of the prompt";

const opened = new AsyncDisposableStack();
let remote: RemoteGateway;
before(async () => {
  const dataDir = await mkdtemp(join(tmpdir(), "patchbay-purge-"));
  opened.defer(() => rm(dataDir, { recursive: true, force: true }));
  const sandbox = await startSandbox();
  opened.defer(() => sandbox.close());
  const database = await openTestDatabase();
  opened.defer(() => database.close());
  remote = await startRemoteGateway({ existing: { dataDir, sandbox, database }, works: false });
  opened.defer(() => remote.close());
  remote.answer((_request, response) => serve(response, heard()));
});
after(() => opened.disposeAsync());

test("jobs.encrypted-at-rest, jobs.result-retention, jobs.audio-retention: transcript, prompt and source URL are never on disk in plain text, and in no table after their time, not even sealed; the audio goes with its job", async () => {
  const { gateway, internet } = remote;
  const { database, origin } = gateway;
  const { job_id: uploaded } = await submit(origin, {
    file: heard(),
    fields: { prompt: PROMPT_CANARY },
    headers: { "idempotency-key": "purge" },
  });
  const fetched = submittedOf(
    await postJson(origin, { audio: { url: `https://media.example/a.wav?sig=${URL_CANARY}` } }, { path: JOBS }),
  ).job_id;
  assert.deepEqual(
    await hitsOf(AUDIO_CANARY),
    [join(gateway.dataDir, "objects", "audio", uploaded)],
    "it can be found",
  );

  const transcripts = new Set<string>();
  const finish = async (ids: readonly string[], limits: Readonly<Record<string, number>>): Promise<void> => {
    const worker = await startGateway({
      file: (sandbox) => remoteFile(sandbox, limits),
      network: internet,
      existing: gateway,
    });
    for (const id of ids) {
      const done = await ended(worker.origin, id);
      assert.equal(done.status, "succeeded", JSON.stringify(done.error));
      transcripts.add((await get(worker.origin, `${JOBS}/${id}?format=text`)).text.trim());
    }
    // Until it is closed it still removes audio.
    await worker.close();
  };
  await finish([uploaded, fetched], {});
  const { job_id: large } = await submit(origin, { file: heard() });
  await finish([large], { stt_job_inline_result_bytes: 64 });
  assert.equal(filesIn(join(gateway.dataDir, "objects", "results")).length, 1);
  assert.ok([...transcripts].every((text) => text.length > 30));

  const said = [...transcripts, ...[...transcripts].map((text) => text.slice(5, 30)), URL_CANARY, PROMPT_CANARY];
  const assertNothingSaid = async (): Promise<void> => {
    for (const text of said) assert.deepEqual(await hitsOf(Buffer.from(text)), [], text);
    assert.deepEqual(await hitsOf(AUDIO_CANARY), [], "audio");
  };
  await assertNothingSaid();
  const sealed = await sealedBytes(database);
  assert.ok(sealed.length >= 6, `${sealed.length} sealed values`);

  await pass(gateway, 259_200 + 60);
  await gateway.app.gateway.idempotency.sweep();
  await vacuumPurged(database);
  await assertNothingSaid();
  assert.deepEqual(filesIn(join(gateway.dataDir, "objects")), []);
  assert.deepEqual(readdirSync(join(gateway.dataDir, "objects", "results")), [], "nor the folder of a job's results");
  const dump = await dumpTables(database);
  // The write-ahead log keeps sealed bytes until PostgreSQL reuses its files.
  for (const bytes of sealed) assert.ok(!dump.includes(bytes.toString("hex")));
  for (const text of said) assert.ok(!dump.includes(text));
});

/** Of every value that is kept sealed, a piece from its middle. */
async function sealedBytes({ db }: OpenDatabase): Promise<readonly Buffer[]> {
  const { rows } = await sql<{ one: Buffer | null; other: Buffer | null }>`
    select request as one, result as other from jobs union all select body, null from idempotency_slots`.execute(db);
  return rows
    .flatMap(({ one, other }) => [one, other])
    .filter((value) => value !== null)
    .map((value) => value.subarray(40, 72));
}

/** The files that hold these bytes: of the data directory, and of the database. */
async function hitsOf(bytes: Buffer): Promise<readonly string[]> {
  const { gateway } = remote;
  await sql`checkpoint`.execute(gateway.database.db);
  const folders = [gateway.dataDir, ...(await serverFolders(gateway.database))];
  return folders.flatMap(filesIn).filter((path) => readIfThere(path).includes(bytes));
}

function filesIn(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

/** The server of the tests runs on this machine. */
async function serverFolders({ db }: OpenDatabase): Promise<readonly string[]> {
  const { rows } = await sql<{ folder: string; oid: string }>`
    select current_setting('data_directory') as folder, oid::text as oid from pg_database where datname = current_database()`.execute(
    db,
  );
  return rows.flatMap(({ folder, oid }) => [join(folder, "base", oid), join(folder, "pg_wal")]);
}

/** A server removes and renames files while it runs. */
function readIfThere(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return Buffer.alloc(0);
    throw error;
  }
}
