// A job on a provider that accepts submissions for some plans and not for others: Google's batch needs a bucket of the operator's
// [providers.configured-model].
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Sandbox } from "../../sandbox/server.ts";
import type { ConfigurationFile } from "../../src/config/schema/file.ts";
import { KEY } from "../harness/gateway.ts";
import { ended, submit } from "../http/jobs/jobs.ts";
import { startIdleGateway } from "./idle-gateway.ts";
import { attemptsOf, jobsFile, REMOTE_KEY } from "./setting.ts";

const { gateway, startWorker } = await startIdleGateway(googleFile);

for (const [what, key, methods] of [
  ["without a bucket, in one request", KEY, ["recognize"]],
  ["with one, in a batch", REMOTE_KEY, ["batchRecognize"]],
] as const) {
  test(`providers.configured-model: a job on Google is done ${what}`, async () => {
    const { origin, database, sandbox } = gateway;
    await startWorker();
    const { job_id: id } = await submit(origin, { key });
    const done = await ended(origin, id, key);
    assert.equal(done.status, "succeeded", JSON.stringify(done.error));
    assert.deepEqual(
      sandbox.calls.flatMap(({ path }) => /:(\w*ecognize)$/.exec(path)?.[1] ?? []),
      methods,
    );
    assert.deepEqual(
      (await attemptsOf(database, id)).map(({ outcome }) => outcome),
      ["succeeded"],
    );
  });
}

function googleFile(sandbox: Sandbox): ConfigurationFile {
  const file = jobsFile(sandbox);
  const target = { connection: "gs", model: "long" };
  return {
    ...file,
    connections: [
      ...(file.connections ?? []),
      { id: "gs", kind: "google-speech", api_key: "ya29.token", base_url: sandbox.googleSpeechUrl },
    ],
    routes: [
      { id: "speech", targets: [{ ...target, settings: { project: "acme" } }] },
      { id: "remote", targets: [{ ...target, settings: { project: "acme", bucket: "acme-audio" } }] },
    ],
  };
}
