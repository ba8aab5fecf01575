// GET /admin/v1/jobs, GET /admin/v1/deliveries and their mirrors of one workspace: what is in progress and how it ended, for operators and
// administrators.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { listOf } from "../../../src/contract/admin/admin.ts";
import { listedDelivery } from "../../../src/contract/admin/delivery-list.ts";
import { listedJob } from "../../../src/contract/admin/job-list.ts";
import { deliveryList } from "../../../src/contract/webhook.ts";
import { ConnectFailure } from "../../../src/outbound/dial.ts";
import type { Answer } from "../../harness/client.ts";
import { KEY, OTHER_KEY, type TestGateway } from "../../harness/gateway.ts";
import { ended, submit } from "../jobs/jobs.ts";
import { written } from "../requests/records.ts";
import { ADMIN_KEY, call, OPERATOR_KEY, OTHER_ADMIN_KEY, startAdminGateway, viewOf } from "./admin.ts";

const jobs = listOf(listedJob);
const deliveries = listOf(listedDelivery);
const NOTE = "a-note-of-the-apps-own";
let gateway: TestGateway;
/** In the order they were submitted. */
const ids = { served: "", failed: "", latest: "", theirs: "" };
before(async () => {
  gateway = await startAdminGateway({
    network: { resolve: async () => ["93.184.216.34"], connect: () => Promise.reject(new ConnectFailure("connect")) },
  });
  for (const [slug, key] of [
    ["acme", ADMIN_KEY],
    ["other", OTHER_ADMIN_KEY],
  ] as const) {
    const made = await call(gateway, "PUT", `/workspace/${slug}/stt-webhook`, {
      key,
      body: { url: `https://${slug}.example/hook` },
    });
    assert.equal(made.status, 200, made.text);
  }
  const run = async (key: string): Promise<string> => {
    const { job_id: id } = await submit(gateway.origin, { key, fields: { metadata: JSON.stringify({ note: NOTE }) } });
    await ended(gateway.origin, id, key);
    return id;
  };
  ids.served = await run(KEY);
  gateway.sandbox.addFault({ times: 2, fault: { kind: "status", status: 400 } });
  ids.failed = await run(KEY);
  ids.latest = await run(KEY);
  ids.theirs = await run(OTHER_KEY);
});
after(() => gateway.close());

const options = (key: string | undefined) => (key === undefined ? {} : { key });
const jobsAt = async (path: string, key?: string) => viewOf(jobs, await call(gateway, "GET", path, options(key)));
const idsAt = async (path: string, key?: string) => (await jobsAt(path, key)).data.map(({ job_id: id }) => id);
const deliveriesAt = async (path: string) => viewOf(deliveries, await call(gateway, "GET", path));
const eventsAt = async (path: string) => (await deliveriesAt(path)).data.map(({ event }) => event.job_id);
const withoutRequestId = ({ status, text }: Answer) => [status, text.replaceAll(/req_[0-9a-z]{26}/g, "req")];

test("admin.jobs, admin.jobs-no-content: the operator sees every workspace's jobs, newest first, and never a transcript or metadata", async () => {
  const answer = await call(gateway, "GET", "/admin/v1/jobs");
  const { data, next_cursor: next } = viewOf(jobs, answer);
  assert.deepEqual(
    data.map(({ job_id: id, status }) => [id, status]),
    [
      [ids.theirs, "succeeded"],
      [ids.latest, "succeeded"],
      [ids.failed, "failed"],
      [ids.served, "succeeded"],
    ],
  );
  assert.equal(next, null);
  assert(!answer.text.includes(NOTE) && !answer.text.includes("simulated transcript"), answer.text);
  const [theirs, latest, failed] = data;
  assert(theirs?.workspace !== latest?.workspace && theirs?.app !== latest?.app && theirs?.key !== latest?.key);
  assert.deepEqual(
    [failed?.error?.code, failed?.task, failed?.result_expired],
    ["PROVIDER_REJECTED", "transcribe", false],
  );
  assert(Date.parse(failed?.deadline_at ?? "") > Date.parse(failed?.finished_at ?? ""));
  await written(gateway);
  const record = await call(gateway, "GET", `/admin/v1/requests/${latest?.request_id}`);
  assert.equal(record.status, 200, record.text);
});

test("admin.jobs: jobs by state, app and workspace, page by page, each once", async () => {
  const [acme] = (await jobsAt("/admin/v1/jobs?workspace=acme")).data;
  const own = [ids.latest, ids.failed, ids.served];
  assert.deepEqual(await idsAt("/admin/v1/jobs?workspace=acme"), own);
  assert.deepEqual(await idsAt(`/admin/v1/jobs?workspace=${acme?.workspace}`), own);
  assert.deepEqual(await idsAt(`/admin/v1/jobs?app=${acme?.app}`), own);
  assert.deepEqual(await idsAt(`/workspace/acme/jobs?app=${acme?.app}&status=succeeded`), [ids.latest, ids.served]);
  assert.deepEqual(await idsAt("/admin/v1/jobs?status=failed"), [ids.failed]);
  assert.deepEqual(await idsAt("/workspace/acme/jobs?status=failed"), [ids.failed]);
  assert.deepEqual(await idsAt("/workspace/acme/jobs?status=queued"), []);
  assert.deepEqual(await idsAt("/workspace/acme/jobs?app=app_unknown"), []);
  assert.deepEqual(await idsAt(`/workspace/acme/jobs?job=${ids.failed}`), [ids.failed]);
  assert.deepEqual(await idsAt(`/workspace/acme/jobs?job=${ids.failed}&status=succeeded`), []);
  assert.deepEqual(await idsAt(`/workspace/acme/jobs?job=${ids.theirs}`), []);
  assert.deepEqual(await idsAt(`/admin/v1/jobs?job=${ids.theirs}`), [ids.theirs]);
  const seen: string[] = [];
  for (let cursor = ""; ; ) {
    const page = await jobsAt(`/admin/v1/jobs?limit=1${cursor}`);
    seen.push(...page.data.map(({ job_id: id }) => id));
    if (page.next_cursor === null) break;
    cursor = `&cursor=${page.next_cursor}`;
  }
  assert.deepEqual(seen, [ids.theirs, ...own]);
});

test("admin.work-scope: administrators see their own workspace's jobs; the operator the same; members none", async () => {
  const own = await jobsAt("/workspace/acme/jobs");
  assert.deepEqual(await jobsAt("/admin/v1/workspaces/acme/jobs"), own);
  assert.deepEqual(await jobsAt("/workspace/acme/jobs", OPERATOR_KEY), own);
  assert.deepEqual(await idsAt("/workspace/other/jobs", OTHER_ADMIN_KEY), [ids.theirs]);
  const foreignApp = (await jobsAt("/admin/v1/jobs?workspace=other")).data[0]?.app;
  assert.deepEqual(await idsAt(`/workspace/acme/jobs?app=${foreignApp}`), []);
  assert.equal((await call(gateway, "GET", "/workspace/acme/jobs", { key: KEY })).code, "FORBIDDEN");
  const missing = await call(gateway, "GET", "/workspace/unknown/jobs", { key: OTHER_ADMIN_KEY });
  const foreign = await call(gateway, "GET", "/workspace/acme/jobs", { key: OTHER_ADMIN_KEY });
  assert.deepEqual(withoutRequestId(foreign), withoutRequestId(missing));
  assert.equal(missing.status, 404);
});

test("admin.deliveries: the operator sees every workspace's deliveries, without what receivers answered", async () => {
  const own = [ids.latest, ids.failed, ids.served];
  assert.deepEqual(await eventsAt("/admin/v1/deliveries"), [ids.theirs, ...own]);
  assert.deepEqual(await eventsAt("/admin/v1/deliveries?workspace=acme"), own);
  assert.deepEqual(await eventsAt("/admin/v1/deliveries?status=delivered"), []);
  const [theirs, latest] = (await deliveriesAt("/admin/v1/deliveries?status=pending")).data;
  assert(theirs?.workspace !== latest?.workspace && theirs?.app !== latest?.app && latest?.app !== null);
  const first = await deliveriesAt("/admin/v1/deliveries?limit=3");
  assert.deepEqual(await eventsAt(`/admin/v1/deliveries?cursor=${first.next_cursor}`), [ids.served]);
  const twin = await call(gateway, "GET", "/admin/v1/workspaces/acme/stt-webhook/deliveries?limit=2");
  const page = viewOf(deliveryList, twin);
  assert.deepEqual(
    page.data.map(({ event }) => event.job_id),
    [ids.latest, ids.failed],
  );
});

test("api.unknown-query, api.cursor-own-list: unknown filters and cursors of other lists are refused", async () => {
  const { next_cursor: foreign } = await jobsAt("/admin/v1/jobs?limit=1");
  for (const path of [
    "/admin/v1/jobs?status=lost",
    "/admin/v1/jobs?limit=0",
    "/admin/v1/jobs?colour=red",
    "/admin/v1/jobs?cursor=x",
    "/workspace/acme/jobs?workspace=other",
    `/admin/v1/deliveries?cursor=${foreign}`,
    "/admin/v1/deliveries?status=queued",
    "/admin/v1/deliveries?app=x",
  ]) {
    const answer = await call(gateway, "GET", path);
    assert.deepEqual([answer.status, answer.code], [400, "INVALID_REQUEST"], path);
  }
  for (const path of ["/admin/v1/jobs?workspace=unknown", "/admin/v1/deliveries?workspace=unknown"])
    assert.equal((await call(gateway, "GET", path)).code, "NOT_FOUND", path);
  for (const path of ["/admin/v1/jobs", "/admin/v1/deliveries"]) {
    assert.equal((await call(gateway, "GET", path, { key: ADMIN_KEY })).code, "FORBIDDEN", path);
    assert.equal((await call(gateway, "GET", path, { key: null })).status, 401, path);
  }
});
