// GET /admin/v1/retirements and the same for one workspace: who sees which entries, page by page, on a moved clock.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { ConfigurationFile } from "../../../src/config/schema/file.ts";
import { listOf } from "../../../src/contract/admin/admin.ts";
import { retirementView } from "../../../src/contract/admin/retirements.ts";
import type { Sandbox } from "../../../sandbox/server.ts";
import { routingDecision } from "../../../src/contract/transcription/transcription-envelope.ts";
import { postForm } from "../../harness/client.ts";
import { KEY, type TestGateway } from "../../harness/gateway.ts";
import { scrape } from "../../telemetry/scrape.ts";
import { ADMIN_KEY, adminFile, call, OTHER_ADMIN_KEY, startAdminGateway, viewOf } from "./admin.ts";

const list = listOf(retirementView);
let gateway: TestGateway;
let day = "2026-11-26";

/** `speech` is used by both workspaces, `spare` by none, and `mine` is acme's own. */
function file(sandbox: Sandbox): ConfigurationFile {
  const standard = adminFile(sandbox);
  const mine = { id: "mine", targets: [{ connection: "oa", model: "whisper-1" }] };
  const spare = { id: "spare", targets: [{ connection: "oa", model: "gpt-4o-transcribe" }] };
  return {
    ...standard,
    routes: [...(standard.routes ?? []), spare],
    workspaces: (standard.workspaces ?? []).map((workspace) =>
      workspace.id === "acme" ? { ...workspace, routes: [mine] } : workspace,
    ),
  };
}

before(async () => {
  gateway = await startAdminGateway({ file, modelClock: () => new Date(`${day}T12:00:00Z`) });
});
after(() => gateway.close());

const page = async (path: string, key?: string) =>
  viewOf(list, await call(gateway, "GET", path, key === undefined ? {} : { key }));

async function routesIn(path: string, key?: string): Promise<readonly string[]> {
  return [...new Set((await page(path, key)).data.map(({ route }) => route))].toSorted();
}

test("retirement.scope: the operator sees every route, a workspace its own routes and the shared ones that its apps use", async () => {
  assert.deepEqual(await routesIn("/admin/v1/retirements"), ["mine", "spare", "speech"]);
  assert.deepEqual(await routesIn("/admin/v1/retirements?workspace=other"), ["speech"]);
  assert.deepEqual(await routesIn("/admin/v1/workspaces/acme/retirements"), ["mine", "speech"]);
  assert.deepEqual(await routesIn("/workspace/acme/retirements"), ["mine", "speech"]);
  assert.deepEqual(await routesIn("/workspace/other/retirements", OTHER_ADMIN_KEY), ["speech"]);
  const { data } = await page("/workspace/other/retirements", OTHER_ADMIN_KEY);
  assert(
    data.every(({ apps }) => apps.every(({ app }) => app === "app")),
    "no app of another workspace",
  );
  const shared = (await page("/admin/v1/retirements")).data.find(({ route }) => route === "speech");
  assert.deepEqual(shared?.apps.map(({ app }) => app).toSorted(), ["app", "notes"]);
  assert.deepEqual([shared?.workspace_id, shared?.route_owner], [null, "platform"]);
});

test("retirement.scope: a member gets 403, and another workspace is one that does not exist", async () => {
  const refused = async (path: string, key: string) => (await call(gateway, "GET", path, { key })).status;
  assert.equal(await refused("/workspace/acme/retirements", KEY), 403);
  assert.equal(await refused("/workspace/acme/retirements", OTHER_ADMIN_KEY), 404);
  assert.equal(await refused("/admin/v1/retirements", ADMIN_KEY), 403);
  assert.equal((await call(gateway, "GET", "/admin/v1/retirements?workspace=missing")).status, 404);
});

test("retirement.scope: pages are in the order of dates and complete, and within_days ends the list", async () => {
  const whole = (await page("/admin/v1/retirements?limit=100")).data.map(({ id }) => id);
  assert(whole.length > 2);
  assert.deepEqual(whole, whole.toSorted());
  const read: string[] = [];
  let cursor: string | null = null;
  do {
    const next = await page(`/admin/v1/retirements?limit=1${cursor === null ? "" : `&cursor=${cursor}`}`);
    read.push(...next.data.map(({ id }) => id));
    cursor = next.next_cursor;
  } while (cursor !== null);
  assert.deepEqual(read, whole);
  assert.deepEqual((await page("/admin/v1/retirements?within_days=30")).data, []);
  assert.equal((await call(gateway, "GET", "/admin/v1/retirements?within_days=-1")).status, 400);
  assert.equal((await call(gateway, "GET", "/admin/v1/retirements?cursor=x")).status, 400);
});

test("retirement.by-router: on the announced day, and not before, the gateway refuses what the entry names", async () => {
  const speech = (await page("/admin/v1/retirements")).data.filter(({ route }) => route === "speech");
  assert(
    speech.some(({ feature, date }) => feature === "translation" && date === "2027-02-26"),
    JSON.stringify(speech.map(({ id }) => id)),
  );
  const outcome = async () => {
    const answer = await postForm(gateway.origin, { path: "/v1/translation", fields: { dry_run: "true" } });
    return routingDecision.parse(answer.json).outcome;
  };
  day = "2027-02-25";
  assert.deepEqual(await outcome(), { status: 200, code: null, position: 2 });
  day = "2027-02-26";
  assert.deepEqual(await outcome(), { status: 503, code: "NO_HEALTHY_PROVIDER", position: null });
  day = "2026-11-26";
});

test("retirement.metric: a gauge has the days until the next loss of each route and feature, those of workspaces together", async () => {
  const days = async (route: string) =>
    (await scrape(gateway.adminOrigin)).value(
      `svc_model_retirement_days{route="${route}",feature="transcription",evidence="vendor"}`,
    );
  assert.equal(await days("spare"), 92);
  assert.equal(await days("(workspace)"), 92);
  assert.equal(await days("mine"), 0, "no id of a workspace");
  day = "2027-02-27";
  assert.equal(await days("spare"), -1);
  day = "2026-11-26";
});

test("retirement.proposal: an entry has the proposed target and its dry run, and the days left follow the clock", async () => {
  const mine = async () => (await page("/workspace/acme/retirements")).data.find(({ route }) => route === "mine");
  const before = await mine();
  assert.deepEqual([before?.feature, before?.date, before?.days_left], ["transcription", "2027-02-26", 92]);
  assert.deepEqual(before?.targets, [
    {
      position: 1,
      connection: "oa",
      provider: "openai",
      model: "whisper-1",
      answered_by: null,
      source: before?.targets[0]?.source,
    },
  ]);
  assert.equal(before?.proposal?.dry_run.outcome.status, 200);
  assert.equal(before.proposal.dry_run.candidates[0]?.model, before.proposal.target.model);
  day = "2027-02-27";
  const later = await mine();
  assert.equal(later?.days_left, -1);
  assert.match(later?.message ?? "", /^Since 2027-02-26 route `mine` cannot transcribe/u);
  day = "2026-11-26";
});
