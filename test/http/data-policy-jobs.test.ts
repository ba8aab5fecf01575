// Data policies of jobs and live audio: what is sent, by which facts a job judges, and a deletion that is refused.
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import type { Sandbox } from "../../sandbox/server.ts";
import type { SandboxCall } from "../../sandbox/calls.ts";
import { brand, type WorkspaceId } from "../../src/contract/ids.ts";
import type { Job } from "../../src/contract/jobs.ts";
import { MAX_DELETION_ATTEMPTS } from "../../src/gateway/store/provider-deletions.ts";
import type { OpenJob } from "../../src/jobs/job-request.ts";
import { judgeTargets } from "../../src/jobs/run/choose-targets.ts";
import { requiredDataPolicy } from "../../src/routing/data-policy.ts";
import { requiredFeatures } from "../../src/routing/required-features.ts";
import type { Target } from "../../src/routing/types.ts";
import { envelopeOf, postForm, postJson } from "../harness/client.ts";
import { startGateway, type TestGateway } from "../harness/gateway.ts";
import { shiftClock } from "../harness/postgres/database.ts";
import { until } from "../harness/until.ts";
import { audioFixture } from "../providers/suites/fixtures.ts";
import { route as routeWith } from "../routing/routing-fixtures.ts";
import { ALL, ALL_LACKS, dataPolicyFile, fileFields, TEST_KEY } from "./data-policy-setup.ts";
import { ended, submit } from "./jobs/jobs.ts";
import { call, envelopeIn, samples, speak, START } from "./realtime/setup.ts";

let gateway: TestGateway;
let origin: string;
let sandbox: Sandbox;
before(async () => {
  gateway = await startGateway({ file: dataPolicyFile });
  ({ origin, sandbox } = gateway);
});
after(() => gateway.close());
beforeEach(() => sandbox.clearCalls());

const routeOf = (targets: readonly Target[]) => routeWith("files-deepgram-both", targets);

async function workspaceOf(): Promise<WorkspaceId> {
  const { id } = await gateway.database.db
    .selectFrom("workspaces")
    .select("id")
    .where("slug", "=", "acme")
    .executeTakeFirstOrThrow();
  return brand("workspace", id);
}

function assertSucceeded({ status, error }: Job): void {
  assert.equal(status, "succeeded", JSON.stringify(error));
}

const optOuts = (calls: readonly SandboxCall[]) =>
  calls.map(({ query }) => query.filter(([name]) => name === "mip_opt_out").map(([, value]) => value));

test("data-policy.opt-out-forced: a request, a stream, a job and live audio send Deepgram the opt-out, although the target's settings say otherwise", async () => {
  const policy = { training: "never" };
  const purpose = "files-deepgram-both";
  envelopeOf(await postForm(origin, { fields: fileFields(purpose, policy) }));
  const streamed = await postForm(origin, { fields: { ...fileFields(purpose, policy), stream: "true" } });
  assert.equal(streamed.status, 200);
  const { job_id } = await submit(origin, { fields: fileFields(purpose, policy) });
  assertSucceeded(await ended(origin, job_id));
  const caller = await call(origin);
  await speak(caller, { ...START, purpose, data_policy: policy }, samples().subarray(0, 32_000));
  await caller.closed;
  envelopeIn(caller);
  assert.deepEqual(optOuts(sandbox.calls), [["true"], ["true"], ["true"], ["true"]]);
  sandbox.clearCalls();
  envelopeOf(await postForm(origin, { fields: fileFields(purpose) }));
  assert.deepEqual(optOuts(sandbox.calls), [[]], "without a requirement the setting decides");
});

test("data-policy.opt-out-forced: zero retention that is stated for ElevenLabs is sent, for requests and jobs", async () => {
  const fields = fileFields("files-elevenlabs-both", { retention: "none" });
  envelopeOf(await postForm(origin, { fields }));
  const { job_id } = await submit(origin, { fields });
  assertSucceeded(await ended(origin, job_id));
  assert.deepEqual(
    sandbox.calls.map(({ method, query }) => [method, query.find(([name]) => name === "enable_logging")?.[1]]),
    [
      ["POST", "false"],
      ["POST", "false"],
    ],
  );
});

test("data-policy.fail-closed: a job judges by the facts when it runs: without the statement that it was accepted for, it ends unsupported and calls nothing", async () => {
  sandbox.clearCalls();
  const { gateway: services } = gateway.app;
  const stated = services
    .directory()
    .routesOf(await workspaceOf())
    .get("files-deepgram-both")?.targets[1];
  assert.ok(stated !== undefined);
  const { dataPolicyOf } = services.directory();
  assert.ok(dataPolicyOf(stated).audio_input?.some(({ basis }) => basis === "statement"));
  assert.deepEqual(dataPolicyOf({ ...stated, account: "platform/gone" }), {});
  const facts = { facts: { ...audioFixture(), format: "wav" as const }, warnings: [] };
  const policy = requiredDataPolicy(ALL);
  const judged = (account: string) => {
    const route = { ...routeOf([{ ...stated, account }]), dataPolicy: policy };
    const request = { route, profile: null, wanted: requiredFeatures({}, "transcribe") };
    const job = { request, payer: { testMode: false, hasPlan: false }, call: null } as unknown as OpenJob;
    return judgeTargets(services, job, facts).map(({ verdict }) => verdict.missing);
  };
  assert.deepEqual(judged(stated.account), [[]]);
  assert.deepEqual(judged("platform/gone"), [ALL_LACKS]);
  assert.deepEqual(judged("platform/deepgram-bare"), [ALL_LACKS]);
  assert.equal(sandbox.callCount, 0);
});

test("data-policy.fail-closed: a target that loses its proof while another one is tried is not called, for audio and chat", async () => {
  let isChanged = false;
  const changing = await startGateway({
    file: (sandboxServer) => {
      const file = dataPolicyFile(sandboxServer);
      const twice = [
        ["files-deepgram-twice", "nova-3", "deepgram"],
        ["chat-openai-twice", "gpt-4o", "openai"],
      ].map(([id = "", model = "", kind = ""]) => ({
        id,
        targets: [
          { connection: `${kind}-stated`, model },
          { connection: `${kind}-stated`, model },
        ],
      }));
      const [app] = file.workspaces?.[0]?.apps ?? [];
      app?.purposes?.push(...twice.map(({ id }) => ({ purpose: id, route: id })));
      return { ...file, routes: [...(file.routes ?? []), ...twice] };
    },
    wrapGateway: (services) => ({
      ...services,
      directory: () => (isChanged ? { ...services.directory(), dataPolicyOf: () => ({}) } : services.directory()),
      openIo: (options) => {
        isChanged = true;
        return services.openIo(options);
      },
    }),
  });
  after(() => changing.close());
  for (const [name, ask] of [
    ["audio", () => postForm(changing.origin, { fields: fileFields("files-deepgram-twice", { training: "never" }) })],
    [
      "chat",
      () =>
        postJson(
          changing.origin,
          {
            messages: [{ role: "user", content: "Hello" }],
            purpose: "chat-openai-twice",
            data_policy: { training: "never" },
          },
          { path: "/v1/chat" },
        ),
    ],
  ] as const) {
    isChanged = false;
    changing.sandbox.clearCalls();
    changing.sandbox.addFault({ times: 1, fault: { kind: "status", status: 503 } });
    const answer = await ask();
    assert.equal(answer.status, 503, `${name}: ${answer.text}`);
    assert.equal(changing.sandbox.callCount, 1, name);
  }
});

test("data-policy.deletion, jobs.deletion-records: a deletion that a requirement relies on and that the provider refuses to the end shows in the job", async () => {
  const rule = { wire: "assemblyai", step: "remove", fault: { kind: "status", status: 403 } };
  // A test key is answered by the sandbox inside the gateway.
  const injected = await fetch(`${gateway.app.sandboxOrigin}/_sandbox/faults`, {
    method: "PUT",
    headers: { "content-type": "application/json" },
    body: JSON.stringify([rule]),
  });
  assert.ok(injected.ok, await injected.text());
  const fields = fileFields("own-assemblyai", { retention: "deletable" });
  const { job_id } = await submit(origin, { key: TEST_KEY, fields });
  const job = await ended(origin, job_id, TEST_KEY);
  assertSucceeded(job);
  assert.equal(job.provider_deletion, "pending");
  const row = () =>
    gateway.database.db.selectFrom("provider_deletions").selectAll().where("subject", "=", job_id).executeTakeFirst();
  await until(async () => (await row())?.last_failure != null);
  for (let attempt = 2; attempt <= MAX_DELETION_ATTEMPTS; attempt += 1) {
    await shiftClock(gateway.database, attempt * 100_000);
    await gateway.app.gateway.deletions.sweep();
  }
  assert.equal((await row())?.state, "failed");
  const { provider_deletion } = await gateway.database.db
    .selectFrom("jobs")
    .select("provider_deletion")
    .where("id", "=", job_id)
    .executeTakeFirstOrThrow();
  assert.equal(provider_deletion, "failed");
});
