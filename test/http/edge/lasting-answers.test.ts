// Answers without an end of their own: they last as long as their caller's key is valid.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { sql } from "kysely";
import { brand, newId } from "../../../src/contract/ids.ts";
import { createSeal } from "../../../src/storage/secrets/seal.ts";
import { listen } from "../../../src/webhooks/listen.ts";
import { startBeatClock } from "../../harness/beat-clock.ts";
import { changeKey, CHAT_ALONE, EXPIRED, REVOKED } from "../../harness/change-key.ts";
import { get } from "../../harness/client.ts";
import { ENCRYPTION_KEY, KEY, OTHER_KEY, startGateway, type TestGateway } from "../../harness/gateway.ts";
import { jobsFile, REMOTE_KEY, SECOND_APP_KEY } from "../../jobs/setting.ts";
import { JOBS, submit } from "../jobs/jobs.ts";

const ADMINS = ["key-of-an-administrator-of-acme-1", "key-of-an-administrator-of-acme-2"] as const;
const OPERATOR = "key-of-the-operator-of-everything1";
const WEBHOOK_STREAM = "/workspace/acme/stt-webhook/stream";
const ENDED = "an end";

let gateway: TestGateway;
before(async () => {
  gateway = await startGateway({
    // A job without a worker does not end either.
    works: false,
    file: (sandbox) => {
      const file = jobsFile(sandbox);
      const [acme, ...others] = file.workspaces ?? [];
      assert(acme !== undefined);
      const admins = ADMINS.map((secret, at) => ({ id: `admin-${at}`, secret }));
      return {
        ...file,
        operator_keys: [{ id: "root", secret: OPERATOR }],
        workspaces: [{ ...acme, admin_keys: admins }, ...others],
      };
    },
  });
});
after(() => gateway.close());

const CASES = [
  ["the webhook's, of a revoked administrator", { key: ADMINS[0], id: "admin-0", set: REVOKED }],
  ["the webhook's, of an administrator whose key has expired", { key: ADMINS[1], id: "admin-1", set: EXPIRED }],
  ["the webhook's, of a revoked operator", { key: OPERATOR, id: "root", set: REVOKED }],
  ["a job's, of a revoked key", { key: KEY, id: "notes-key", set: REVOKED }],
  ["a job's, of a key that has lost its scope", { key: SECOND_APP_KEY, id: "second-key", set: CHAT_ALONE }],
] as const;

for (const [name, { key, id, set }] of CASES) {
  test(`keys.revoke-streams: a stream of events ends within 5 s once its key is refused: ${name}`, async () => {
    const path = name.startsWith("a job's")
      ? `${JOBS}/${(await submit(gateway.origin, { key })).job_id}`
      : WEBHOOK_STREAM;
    const response = await fetch(`${gateway.origin}${path}`, {
      headers: { authorization: `Bearer ${key}`, accept: "text/event-stream" },
    });
    assert.equal(response.status, 200);
    assert(response.body !== null);
    const text = response.body.pipeThrough(new TextDecoderStream()).getReader();
    assert.match((await text.read()).value ?? "", /^event: (ready|job)\n/u);
    using clock = startBeatClock();
    await changeKey(gateway, id, set);
    const { value = ENDED } = await text.read();
    assert.equal(value, ENDED);
    assert.ok(clock.elapsedMs() < 5_000);
  });
}

test("keys.revoke-listen: of a page of events that its listener reads slowly, none is signed once the key is refused", async () => {
  const { database } = gateway;
  const { id } = await database.db
    .selectFrom("workspaces")
    .select("id")
    .where("slug", "=", "other")
    .executeTakeFirstOrThrow();
  const jobs = [await submit(gateway.origin, { key: OTHER_KEY }), await submit(gateway.origin, { key: OTHER_KEY })];
  const services = { database, seal: createSeal({ keys: [ENCRYPTION_KEY] }), nowMs: Date.now };
  const refused = new AbortController();
  const events = listen(services, { workspaceId: brand("workspace", id), after: null, until: refused.signal });
  assert.equal((await events.next()).value?.event, "ready");
  for (const { job_id: jobId } of jobs)
    await sql`insert into webhook_events (id, workspace_id, app_id, job_id, type, status, occurred_at)
      select ${newId("event")}, workspace_id, app_id, id, 'transcription.job.failed', 'failed', date_trunc('milliseconds', patchbay_now())
      from jobs where id = ${jobId}`.execute(database.db);
  assert.equal((await events.next()).value?.event, "delivery");
  refused.abort();
  assert.equal((await events.next()).done, true);
});

test("keys.revoke-streams, jobs.wait-revoked: a long poll of a job ends with 401 within 5 s once its key is revoked, in every format", async () => {
  const key = REMOTE_KEY;
  const { job_id: id } = await submit(gateway.origin, { key });
  const polls = ["", "&format=srt"].map((format) => get(gateway.origin, `${JOBS}/${id}?wait=60${format}`, key));
  // They wait: a poll of the same connection's process is answered meanwhile.
  assert.equal((await get(gateway.origin, `${JOBS}/${id}`, key)).status, 200);
  using clock = startBeatClock();
  await changeKey(gateway, "remote-key", REVOKED);
  for (const answer of await Promise.all(polls))
    assert.deepEqual([answer.status, answer.code], [401, "UNAUTHENTICATED"]);
  assert.ok(clock.elapsedMs() < 5_000);
});
