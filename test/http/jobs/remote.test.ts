// Jobs at providers that keep something: one submission whatever happens in between, and what the provider keeps is deleted there after
// success and cancellation [jobs.deletion-due]. The job reports it [jobs.deletion-records].
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import type { Sandbox } from "../../../sandbox/server.ts";
import type { ConfigurationFile } from "../../../src/config/schema/file.ts";
import type { Job } from "../../../src/contract/jobs.ts";
import { KEY, startGateway, type TestGateway } from "../../harness/gateway.ts";
import { cancel, ended, poll, submit } from "./jobs.ts";

let gateway: TestGateway;
before(async () => {
  gateway = await startGateway({ file: fileOf });
});
after(() => gateway.close());
beforeEach(() => {
  gateway.sandbox.clearCalls();
  gateway.sandbox.clearFaults();
});

for (const purpose of ["assemblyai", "elevenlabs"] as const) {
  test(`jobs.deletion-due, jobs.deletion-records: a job on ${purpose} succeeds with one submission, and what is kept there is deleted`, async () => {
    const { job_id: id } = await submit(gateway.origin, { fields: { purpose } });
    const done = await ended(gateway.origin, id);
    assert.equal(done.status, "succeeded", JSON.stringify(done.error));
    assert.ok(done.provider_deletion === "pending" || done.provider_deletion === "done");
    assert.equal((await deleted(gateway.origin, id)).provider_deletion, "done");
    assert.equal(submissions(), 1);
    assert.equal(
      gateway.sandbox.calls.filter(({ method, outcome }) => method === "DELETE" && outcome === 200).length,
      1,
    );
  });
}

test("jobs.cancel-processing, jobs.deletion-due: a job that is cancelled during its run ends as cancelled, and the run is deleted when the provider allows it", async () => {
  gateway.sandbox.addFault({ wire: "assemblyai", fault: { kind: "unfinished", polls: 2 } });
  const { job_id: id } = await submit(gateway.origin, { fields: { purpose: "assemblyai" } });
  await gateway.sandbox.waitForCall((call) => call.method === "GET" && call.outcome === 200);
  await cancel(gateway.origin, id);
  const done = await ended(gateway.origin, id);
  assert.equal(done.status, "cancelled");
  assert.equal((await deleted(gateway.origin, id)).provider_deletion, "done");
  assert.equal(submissions(), 1);
});

/** The sweep comes every ten seconds; here it is called as soon as there may be something. */
async function deleted(origin: string, id: string): Promise<Job> {
  for (;;) {
    await gateway.database.db
      .updateTable("provider_deletions")
      .set({ next_at: new Date(0) })
      .where("subject", "=", id)
      .where("state", "=", "pending")
      .execute();
    await gateway.app.gateway.deletions.sweep();
    const seen = await poll(origin, id);
    if (seen.provider_deletion !== "pending") return seen;
  }
}

function submissions(): number {
  return gateway.sandbox.calls.filter(
    ({ method, path }) => method === "POST" && (path.endsWith("/v2/transcript") || path.endsWith("/v1/speech-to-text")),
  ).length;
}

function fileOf(sandbox: Sandbox): ConfigurationFile {
  return {
    connections: [
      { id: "assemblyai", kind: "assemblyai", api_key: "aa-secret", base_url: sandbox.assemblyaiUrl },
      { id: "elevenlabs", kind: "elevenlabs", api_key: "el-secret", base_url: sandbox.elevenlabsUrl },
    ],
    routes: [
      { id: "assemblyai", targets: [{ connection: "assemblyai", model: "universal-3-5-pro" }] },
      { id: "elevenlabs", targets: [{ connection: "elevenlabs", model: "scribe_v2" }] },
    ],
    workspaces: [
      {
        id: "acme",
        apps: [
          {
            id: "notes",
            route: "assemblyai",
            purposes: ["assemblyai", "elevenlabs"].map((purpose) => ({ purpose, route: purpose })),
            keys: [{ id: "notes-key", secret: KEY, scopes: ["transcribe", "jobs"] }],
          },
        ],
      },
    ],
  };
}
