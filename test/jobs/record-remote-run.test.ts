// What a job's row says of a call whose provider keeps something: a run that can be polled is where a successor continues [jobs.resume].
// A copy that a provider keeps of an answer is a deletion to make [jobs.deletion-durable], and the call may still have been made.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type AppId, brand, newId, type WorkspaceId } from "../../src/contract/ids.ts";
import type { OpenJob } from "../../src/jobs/job-request.ts";
import { createJobCallJournal } from "../../src/jobs/run/call-journal.ts";
import type { JobServices } from "../../src/jobs/services.ts";
import type { Candidate } from "../../src/routing/pick-candidates.ts";
import { startGateway, type TestGateway } from "../harness/gateway.ts";

const WORKSPACE: WorkspaceId = brand("workspace", "ws_keep");
const APP: AppId = brand("app", "app_keep");
const ATTEMPT = newId("attempt");

let gateway: TestGateway;
before(async () => {
  gateway = await startGateway();
});
after(() => gateway.close());

for (const [provider, part, state, remoteRun] of [
  ["assemblyai", "whole", "submitted", { id: "run-1", details: { path: "/v2/transcript" } }],
  // Who takes the job over must not take the run of one piece for the whole.
  ["assemblyai", "piece", "submitting", null],
  ["elevenlabs", "whole", "submitting", null],
] as const) {
  test(`jobs.deletion-durable, jobs.resume: what ${provider} keeps of a ${part} leaves the call ${state}, and its deletion is recorded in the same transaction`, async () => {
    const { job, services } = await jobInACall();
    const run = { id: "run-1", details: { path: "/v2/transcript" } };
    const candidate = { target: { account: "platform/x", provider } } as Candidate;
    await createJobCallJournal(services, job, 0n, new AbortController().signal).recordRemoteRun(candidate, run, part);
    const row = await gateway.database.db
      .selectFrom("jobs")
      .selectAll()
      .where("id", "=", job.id)
      .executeTakeFirstOrThrow();
    assert.deepEqual([row.call_state, row.remote_run], [state, remoteRun]);
    assert.equal(await gateway.app.gateway.deletions.state(WORKSPACE, job.id), "pending");
    assert.equal(row.provider_deletion, "none", "not before the job has ended");
  });
}

async function jobInACall(): Promise<{ job: OpenJob; services: JobServices }> {
  const id = newId("job");
  const { db } = gateway.database;
  const shared = {
    id,
    workspace_id: WORKSPACE,
    app_id: APP,
    request_id: newId("request"),
    task: "transcribe" as const,
  };
  const deadlineAt = new Date(Date.now() + 60_000);
  await db
    .insertInto("jobs")
    .values({ ...shared, purpose: "{}", deadline_at: deadlineAt })
    .execute();
  await db
    .updateTable("jobs")
    .set({
      status: "processing",
      attempt: 1,
      lease_until: deadlineAt,
      call_attempt_id: ATTEMPT,
      call_position: 1,
      call_state: "submitting",
    })
    .where("id", "=", id)
    .execute();
  const call = { attemptId: ATTEMPT, position: 1, state: "submitting" };
  const payer = { workspaceId: WORKSPACE, appId: APP, testMode: false };
  return {
    job: { id, attempt: 1, workspaceId: WORKSPACE, appId: APP, payer, call, deadlineAt } as unknown as OpenJob,
    services: gateway.app.jobs,
  };
}
