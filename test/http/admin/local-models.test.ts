// /admin/v1/local-models: the operator's list, and pulls with their progress.
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { localModelList, localModelView } from "../../../src/contract/admin/local-models.ts";
import { archiveSource, demoTar, specWith } from "../../local-models/demo-model.ts";
import { breakAfter, honest, serve, testOutbound } from "../../local-models/lying-server.ts";
import { until } from "../../harness/until.ts";
import { adminFile, auditRows, call, startAdminGateway, viewOf } from "./admin.ts";

const PATH = "/admin/v1/local-models";

async function openWorld(t: TestContext, answer: typeof honest = honest, fetch: "on_request" | "never" = "on_request") {
  const content = await demoTar();
  const download = await serve(t, content, answer);
  const spec = specWith(archiveSource(download.url, content));
  const gateway = await startAdminGateway({
    file: (sandbox) => ({ ...adminFile(sandbox), models: { fetch } }),
    modelSource: { manifest: [spec], hosts: [download.host], outbound: testOutbound(t) },
  });
  t.after(() => gateway.close());
  const read = async () => viewOf(localModelView, await call(gateway, "GET", `${PATH}/demo-model`));
  const pull = (body: unknown = { licence: "CC-BY-4.0" }, name = "demo-model") =>
    call(gateway, "POST", `${PATH}/${name}/pull`, { body });
  return { gateway, download, content, read, pull };
}

test("local-models.admin, local-models.admin-pull: a pull is started with the licence, its progress is read, and it is one audit entry", async (t) => {
  const goOn = Promise.withResolvers<void>();
  const { gateway, download, content, read, pull } = await openWorld(t, (_request, response, whole) => {
    response.writeHead(200, { "content-length": whole.length });
    response.write(whole.subarray(0, 1_000));
    void goOn.promise.then(() => response.end(whole.subarray(1_000)));
  });
  const { data } = viewOf(localModelList, await call(gateway, "GET", PATH));
  assert.deepEqual(
    data.map(({ name, state, figures, pull: running }) => [name, state, figures, running]),
    [["demo-model", "available", "second_hand", null]],
  );
  assert.equal((await pull()).status, 202);
  await until(async () => (await read()).pull?.bytes === 1_000);
  const { pull: progress } = await read();
  assert.deepEqual(
    [progress?.state, progress?.phase, progress?.total_bytes],
    ["running", "downloading", content.length],
  );
  assert.equal((await pull()).status, 202);
  goOn.resolve();
  await until(async () => (await read()).pull === null);
  const done = await read();
  assert.deepEqual([done.state, done.figures], ["installed", "confirmed"]);
  assert.notEqual(done.licence_accepted_at, null);
  assert.equal(download.ranges.length, 1);
  const entries = (await auditRows(gateway)).filter(({ action }) => action === "local_model.pull_started");
  assert.ok(entries.length > 0);
  assert.deepEqual(entries[0]?.after, { accepted_licence: "CC-BY-4.0" });
});

test("local-models.admin-pull: another licence, an unknown model and `models.fetch: never` are refused", async (t) => {
  const { gateway, download, pull } = await openWorld(t, honest, "never");
  assert.deepEqual([(await pull({ licence: "MIT" })).status, (await pull({})).status], [400, 400]);
  assert.equal((await pull({ licence: "MIT" }, "other")).status, 404);
  const refused = await pull();
  assert.deepEqual([refused.status, refused.code], [409, "CONFLICT"]);
  assert.match(refused.text, /downloads_off/u);
  assert.equal((await call(gateway, "GET", `${PATH}/other`)).status, 404);
  assert.deepEqual(download.ranges, []);
});

test("local-models.admin-pull: a failure is shown with its reason, and a running pull can be stopped", async (t) => {
  let isBroken = true;
  const { gateway, read, pull } = await openWorld(t, (request, response, whole) => {
    if (isBroken) return void response.writeHead(404).end();
    breakAfter(1_000)(request, response, whole);
  });
  await pull();
  await until(async () => (await read()).pull?.state === "failed");
  assert.match((await read()).pull?.error ?? "", /answers 404/u);
  isBroken = false;
  await pull();
  await until(async () => (await read()).pull?.bytes === 1_000);
  const stopped = viewOf(localModelView, await call(gateway, "DELETE", `${PATH}/demo-model/pull`));
  assert.deepEqual([stopped.state, stopped.pull?.state], ["available", "cancelled"]);
});
