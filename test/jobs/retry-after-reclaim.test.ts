// Money that idle leases hold: no job is refused for lack of it, at its submission or when it runs [jobs.reservation].
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type AppId, brand, newId, type WorkspaceId } from "../../src/contract/ids.ts";
import type { OpenJob } from "../../src/jobs/job-request.ts";
import { createJobCallJournal } from "../../src/jobs/run/call-journal.ts";
import { startGateway, type TestGateway } from "../harness/gateway.ts";
import { JOBS, submit } from "../http/jobs/jobs.ts";
import { postForm } from "../harness/client.ts";
import { chatReservation, chatSettlement } from "../metering/chat-reservation.ts";
import { jobsFile } from "./setting.ts";

const LIMIT = 1_000_000_000n;

let gateway: TestGateway;
before(async () => {
  gateway = await startGateway({
    works: false,
    file: (sandbox) => {
      const file = jobsFile(sandbox);
      const budgets = [{ period: "month" as const, limit_usd: "1" }];
      const [acme, ...others] = file.workspaces ?? [];
      assert(acme !== undefined);
      const apps = (acme.apps ?? []).map((app) => ({ ...app, budgets }));
      return { ...file, workspaces: [{ ...acme, apps }, ...others] };
    },
  });
});
after(() => gateway.close());

/** A chat that held nearly all of it, cost nothing, and has left it to an idle lease. */
async function holdNearlyAll(slug: string): Promise<{ workspaceId: WorkspaceId; appId: AppId }> {
  const { id, workspace_id: workspaceId } = await gateway.database.db
    .selectFrom("apps")
    .innerJoin("workspaces", "workspaces.id", "apps.workspace_id")
    .select(["apps.id", "workspace_id"])
    .where("apps.slug", "=", slug)
    .where("workspaces.slug", "=", "acme")
    .executeTakeFirstOrThrow();
  const owner = { workspaceId: brand("workspace", workspaceId), appId: brand("app", id) };
  const { leases } = gateway.app.gateway;
  const item = chatReservation(owner, 0, LIMIT - 1_000n, { provider: "openai" });
  assert.deepEqual(await leases.reserve(item), { ok: true });
  leases.settle(chatSettlement(item, 0));
  return owner;
}

test("jobs.reservation: a job is accepted whose money an idle lease holds; one that the budget has no room for is refused", async () => {
  await holdNearlyAll("notes");
  const dryRun = await postForm(gateway.origin, { path: JOBS, fields: { dry_run: "true" } });
  assert.equal(dryRun.status, 200);
  await submit(gateway.origin);
  await gateway.database.db.updateTable("budgets").set({ limit_nano_usd: 1n }).execute();
  assert.equal((await postForm(gateway.origin, { path: JOBS })).code, "BUDGET_EXCEEDED");
  await gateway.database.db.updateTable("budgets").set({ limit_nano_usd: LIMIT }).execute();
});

test("jobs.reservation: a job that reserves when it runs gets the money that an idle lease holds", async () => {
  const owner = await holdNearlyAll("remote");
  const deadlineAt = new Date(Date.now() + 60_000);
  const id = newId("job");
  await gateway.database.db
    .insertInto("jobs")
    .values({
      id,
      workspace_id: owner.workspaceId,
      app_id: owner.appId,
      request_id: newId("request"),
      task: "transcribe",
      purpose: "{}",
      deadline_at: deadlineAt,
    })
    .execute();
  await gateway.database.db
    .updateTable("jobs")
    .set({ status: "processing", attempt: 1, lease_until: deadlineAt })
    .where("id", "=", id)
    .execute();
  const payer = { ...owner, testMode: false };
  const job = { id, attempt: 1, ...owner, payer, call: null, deadlineAt, failures: [] } as unknown as OpenJob;
  const most = LIMIT / 2n;
  const journal = createJobCallJournal(gateway.app.jobs, job, most, new AbortController().signal);
  const reservation = { ...chatReservation(owner, 0, most), audioMs: 1_000 };
  assert.equal(await journal.reserve(reservation), reservation.attemptId);
});
