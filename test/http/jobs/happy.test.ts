// Jobs without faults: submitted, polled, streamed, exported, listed.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { sql } from "kysely";
import { job as jobSchema } from "../../../src/contract/jobs.ts";
import { transcriptionEnvelope } from "../../../src/contract/transcription/transcription-envelope.ts";
import { get, postForm, postJson, send, speech } from "../../harness/client.ts";
import { KEY, standardFile as standard, startGateway, type TestGateway } from "../../harness/gateway.ts";
import { HELD, releaseHeld } from "../../harness/held.ts";
import { ended, JOBS, list, submit, submittedOf } from "./jobs.ts";

let gateway: TestGateway;
before(async () => {
  gateway = await startGateway();
});
after(() => gateway.close());

test("jobs.submit-answer, jobs.result-url: an upload becomes a job that succeeds, with its result inline", async () => {
  const { origin } = gateway;
  const submitted = await submit(origin, { fields: { metadata: '{"call":"42"}' } });
  const done = await ended(origin, submitted.job_id);
  assert.equal(done.status, "succeeded", JSON.stringify(done.error));
  assert.equal(done.attempts, 1);
  assert.deepEqual(done.progress, { stage: "done", fraction: null });
  assert.deepEqual(done.metadata, { call: "42" });
  assert.equal(done.result_url, null);
  assert.equal(done.result?.usage.audio_seconds, done.usage?.audio_seconds);
  assert.match(done.result?.content ?? "", /./u);
  const { started_at: started, finished_at: finished, expires_at: expires } = done;
  assert.ok(started !== null && finished !== null && expires !== null);
  assert.equal(Date.parse(expires) - Date.parse(finished), 259_200_000);
  assert.ok(Date.parse(started) <= Date.parse(finished));
});

test("jobs.submit-answer: the JSON body and `mode: async` give the same 202", async () => {
  const { origin } = gateway;
  const audio = { base64: Buffer.from(speech()).toString("base64") };
  const fromJson = submittedOf(await postJson(origin, { audio, metadata: { a: "b" } }, { path: JOBS }));
  const fromMode = submittedOf(await postJson(origin, { audio, mode: "async" }));
  const fromForm = submittedOf(await postForm(origin, { fields: { mode: "async" } }));
  for (const { job_id: id } of [fromJson, fromMode, fromForm])
    assert.equal((await ended(origin, id)).status, "succeeded");
});

test("jobs.end-transaction, jobs.audio-retention: a job has one event and one settled attempt, and its audio is gone once it has ended", async () => {
  const { origin, database } = gateway;
  const { job_id: id } = await submit(origin);
  await ended(origin, id);
  const events = await database.db.selectFrom("webhook_events").selectAll().where("job_id", "=", id).execute();
  assert.deepEqual(
    events.map(({ type, status }) => ({ type, status })),
    [{ type: "transcription.job.succeeded", status: "succeeded" }],
  );
  const { rows } = await sql<{ state: string; outcome: string }>`
    select state, outcome from attempts where request_id = (select request_id from jobs where id = ${id})`.execute(
    database.db,
  );
  assert.deepEqual(rows, [{ state: "settled", outcome: "succeeded" }]);
});

test("jobs.event-stream: the event stream sends every change and ends with the job", async () => {
  const { origin } = gateway;
  const { job_id: id } = await submit(origin);
  const response = await fetch(`${origin}${JOBS}/${id}`, {
    headers: { authorization: `Bearer ${KEY}`, accept: "text/event-stream" },
  });
  assert.match(response.headers.get("content-type") ?? "", /^text\/event-stream/u);
  const events = (await response.text())
    .split("\n\n")
    .filter((text) => text.startsWith("event: job\ndata: "))
    .map((text) => jobSchema.parse(JSON.parse(text.slice("event: job\ndata: ".length))));
  assert.equal(events.at(-1)?.status, "succeeded");
  assert.ok(events.slice(0, -1).every(({ status }) => status === "queued" || status === "processing"));
  assert.notEqual(events.at(-1)?.result, null);
});

test("jobs.export: a succeeded job is exported in every format, with times that were not asked for", async () => {
  const { origin } = gateway;
  const { job_id: id } = await submit(origin);
  const done = await ended(origin, id);
  assert.deepEqual(done.result?.segments, []);
  const srt = await get(origin, `${JOBS}/${id}?format=srt`);
  assert.match(srt.headers.get("content-type") ?? "", /^application\/x-subrip/u);
  assert.match(srt.text, /^1\n00:00:0\d,\d{3} --> /u);
  const vtt = await get(origin, `${JOBS}/${id}?format=vtt`);
  assert.match(vtt.text, /^WEBVTT\n/u);
  const text = await get(origin, `${JOBS}/${id}?format=text`);
  assert.equal(text.text.trim(), done.result?.content.trim());
  const verbose = await get(origin, `${JOBS}/${id}?format=verbose_json`);
  assert.ok(transcriptionEnvelope.parse(verbose.json).segments.length > 0);
});

test("jobs.wait, jobs.export: an export can be waited for, and is answered when the time is up", async () => {
  const { origin, sandbox } = gateway;
  sandbox.addFault({ wire: "deepgram", times: 1, fault: HELD });
  const { job_id: id } = await submit(origin);
  assert.equal((await get(origin, `${JOBS}/${id}?wait=0&format=text`)).code, "NOT_FOUND");
  const waiting = get(origin, `${JOBS}/${id}?wait=30&format=text`);
  assert.equal((await get(origin, `${JOBS}/${id}?wait=0&format=text`)).code, "NOT_FOUND");
  await releaseHeld(sandbox);
  const waited = await waiting;
  assert.equal(waited.status, 200, waited.text);
  assert.match(waited.headers.get("content-type") ?? "", /^text\/plain/u);
});

for (const limit of [262_144, 64])
  test(`jobs.simulated-mark: a simulated transcript is marked in every form that a job gives it, with an inline limit of ${limit}`, async () => {
    await using simulated = await startSimulated(limit);
    const { origin } = simulated.gateway;
    const done = await ended(origin, (await submit(origin, { fields: { purpose: "nowhere" } })).job_id);
    const polled = await get(origin, done.poll_url);
    assert.equal(polled.headers.get("x-svc-simulated"), done.result === null ? null : "true");
    const result = done.result_url === null ? polled : await send(`${origin}${done.result_url}`, {});
    assert.equal(result.headers.get("x-svc-simulated"), "true");
    for (const format of ["srt", "vtt", "text", "verbose_json"]) {
      const { headers } = await get(origin, `${done.poll_url}?format=${format}`);
      const facts = ["simulated", "requested-purpose", "purpose-source", "warnings", "audio-seconds"];
      assert.deepEqual(
        facts.map((name) => headers.get(`x-svc-${name}`)),
        format === "verbose_json"
          ? ["true", null, null, null, null]
          : [
              "true",
              "nowhere",
              "fallback",
              "PURPOSE_NOT_APPLIED, SIMULATED_PROVIDER",
              String(done.usage?.audio_seconds),
            ],
        format,
      );
    }
  });

test("jobs.list: the app's jobs come newest first, page by page, without their results", async () => {
  const { origin } = gateway;
  const ids: string[] = [];
  for (let n = 0; n < 3; n += 1) ids.unshift((await submit(origin)).job_id);
  for (const id of ids) await ended(origin, id);
  const first = await list(origin, "?limit=2");
  assert.deepEqual(
    first.data.map(({ job_id: id }) => id),
    ids.slice(0, 2),
  );
  assert.ok(first.has_more && first.data.every(({ result }) => result === null));
  const second = await list(origin, `?limit=2&cursor=${first.next_cursor}`);
  assert.equal(second.data[0]?.job_id, ids[2]);
  assert.deepEqual((await list(origin, "?status=failed")).data, []);
});

test("jobs.result-url: a result above the inline limit has a signed URL that needs no key", async () => {
  await using large = await startLarge();
  const { origin } = large.gateway;
  const { job_id: id } = await submit(origin);
  const done = await ended(origin, id);
  assert.equal(done.status, "succeeded", JSON.stringify(done.error));
  assert.equal(done.result, null);
  assert.ok(done.result_url !== null);
  const fetched = await send(`${origin}${done.result_url}`, {});
  assert.equal(fetched.status, 200);
  assert.equal(transcriptionEnvelope.parse(fetched.json).usage.audio_seconds, done.usage?.audio_seconds);
  const tampered = await send(`${origin}${done.result_url.slice(0, -2)}AA`, {});
  assert.equal(tampered.code, "NOT_FOUND");
  assert.match((await get(origin, `${JOBS}/${id}?format=srt`)).text, /-->/u);
});

test("jobs.dry-run: dry_run judges a job and creates none", async () => {
  const { origin } = gateway;
  const before = (await list(origin)).data[0]?.job_id;
  const answer = await postForm(origin, { path: JOBS, fields: { dry_run: "true" } });
  assert.equal(answer.status, 200);
  assert.equal((answer.json as { object: string }).object, "routing.decision");
  assert.equal((await list(origin)).data[0]?.job_id, before);
});

async function startSimulated(inlineBytes: number) {
  const started = await startGateway({
    file: (sandbox) => ({
      ...standard(sandbox),
      connections: [{ id: "sandbox", kind: "sandbox" }],
      routes: [{ id: "speech", targets: [{ connection: "sandbox", model: "simulated-speech" }] }],
      workspaces: [{ id: "acme", apps: [{ id: "notes", route: "speech", keys: [{ id: "notes", secret: KEY }] }] }],
      limits: { stt_job_inline_result_bytes: inlineBytes },
    }),
  });
  return { gateway: started, [Symbol.asyncDispose]: () => started.close() };
}

async function startLarge() {
  const started = await startGateway({
    file: (sandbox) => ({ ...standard(sandbox), limits: { stt_job_inline_result_bytes: 64 } }),
  });
  return { gateway: started, [Symbol.asyncDispose]: () => started.close() };
}
