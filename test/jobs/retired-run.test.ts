// A run that a provider accepted before it ended the model: polled to its end by any worker, because it was accepted and is paid.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { Sandbox } from "../../sandbox/server.ts";
import { configurationWith } from "../harness/configuration.ts";
import { KEY, startGateway } from "../harness/gateway.ts";
import { ended, submit } from "../http/jobs/jobs.ts";
import { paidCalls } from "./setting.ts";

const file = (sandbox: Sandbox) =>
  configurationWith(sandbox, {
    scopes: ["transcribe", "jobs"],
    routes: { speech: ["aa/universal-3-pro", "dg/nova-3"] },
    apps: { notes: { route: "speech", key: KEY } },
  });
let nowIso = "2026-09-01T23:59:59Z";
const modelClock = () => new Date(nowIso);
const gateway = await startGateway({ file, modelClock, works: false });
after(() => gateway.close());

test("routing.model-retired: a job whose run is with the provider is polled to its end, although the model has ended since", async (t) => {
  const { origin, sandbox } = gateway;
  sandbox.addFault({ wire: "assemblyai", fault: { kind: "unfinished", polls: 2 } });
  const first = await startGateway({ file, modelClock, existing: gateway });
  const { job_id: id } = await submit(origin);
  await sandbox.waitForCall(({ method, path }) => method === "GET" && path.includes("/transcript/"));
  first.app.startDraining();
  await first.app.close({ graceMs: 60_000 });
  const paid = paidCalls(sandbox);
  nowIso = "2026-09-02T00:00:00Z";
  const second = await startGateway({ file, modelClock, existing: gateway });
  t.after(() => second.close());
  const done = await ended(origin, id);
  assert.equal(done.status, "succeeded", JSON.stringify(done.error));
  assert.equal(paidCalls(sandbox), paid, "no other target was called");
  assert.ok(sandbox.calls.every(({ wire }) => wire === "assemblyai"));
});
