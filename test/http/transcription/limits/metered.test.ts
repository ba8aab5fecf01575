// What a dedicated speech provider costs: scribe_v2 on a shared connection is metered at 0.22 USD per audio hour, on the workspace's own
// connection it is provider-billed; and what the provider keeps is deleted there.
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import type { Sandbox } from "../../../../sandbox/server.ts";
import type { ConfigurationFile } from "../../../../src/config/schema/file.ts";
import type { WorkspaceId } from "../../../../src/contract/ids.ts";
import { fixture } from "../../../audio/build-audio.ts";
import { attemptRows } from "../../../harness/attempts.ts";
import { envelopeOf, postForm, speech } from "../../../harness/client.ts";
import { KEY, OTHER_KEY, startGateway, type TestGateway } from "../../../harness/gateway.ts";
import { until } from "../../../harness/until.ts";

const CONNECTION = "el";
let gateway: TestGateway;
before(async () => {
  gateway = await startGateway({ file: fileOf });
});
after(() => gateway.close());
beforeEach(() => {
  gateway.sandbox.clearCalls();
  gateway.sandbox.clearFaults();
});

test("metering.price-built-in: scribe_v2 on a shared connection is metered at 0.22 USD an audio hour, to the millisecond", async () => {
  const answer = await postForm(gateway.origin, { file: speech() });
  const { usage } = envelopeOf(answer);
  assert.equal(usage.billable_audio_seconds, usage.audio_seconds);
  const [attempt] = await attemptRows(gateway, answer);
  const audioMs = BigInt(Math.round(usage.audio_seconds * 1000));
  assert.equal(attempt?.charge_nano_usd, (220_000_000n * audioMs + 1_800_000n) / 3_600_000n);
  assert.deepEqual(
    [attempt?.billing_class, attempt?.provider, attempt?.model, attempt?.connection],
    ["metered", "elevenlabs", "scribe_v2", CONNECTION],
  );
});

test("metering.billable-seconds: two channels cost as much as one: Patchbay's price is per hour of audio", async () => {
  const answer = await postForm(gateway.origin, {
    file: fixture("speech-44k-stereo.wav"),
    fields: { multichannel: "true" },
  });
  assert.equal(envelopeOf(answer).usage.billable_audio_seconds, 1);
});

test("metering.billing-class: on the workspace's own account it is provider-billed: 0 billable seconds, the list price kept", async () => {
  const answer = await postForm(gateway.origin, { key: OTHER_KEY, file: speech() });
  assert.equal(envelopeOf(answer).usage.billable_audio_seconds, 0);
  const [attempt] = await attemptRows(gateway, answer);
  assert.deepEqual([attempt?.billing_class, attempt?.charge_nano_usd], ["provider_billed", 0n]);
  assert.ok((attempt?.estimate_nano_usd ?? 0n) > 0n);
});

test("providers.deletion: the transcript that the provider keeps is deleted there once the answer is stored", async () => {
  const answer = await postForm(gateway.origin, { file: speech() });
  envelopeOf(answer);
  const [attempt] = await attemptRows(gateway, answer);
  const path = `/elevenlabs/v1/speech-to-text/transcripts/${attempt?.provider_request_id}`;
  await gateway.sandbox.waitForCall((call) => call.method === "DELETE" && call.path === path && call.outcome === 200);
  const { deletions } = gateway.app.gateway;
  const state = () => deletions.state(attempt?.workspace_id as WorkspaceId, answer.headers.get("x-request-id") ?? "");
  await until(async () => (await state()) !== "pending");
  assert.equal(await state(), "done");
});

test("providers.failure-kinds: exhausted credit, which the provider reports under 401, is a payment failure: the next target serves", async () => {
  gateway.sandbox.addFault({
    wire: "elevenlabs",
    model: "scribe_v2",
    times: 1,
    fault: { kind: "status", status: 401, body: '{"detail":{"status":"quota_exceeded","message":"no credit"}}' },
  });
  const answer = await postForm(gateway.origin, { file: speech() });
  envelopeOf(answer);
  assert.deepEqual(
    (await attemptRows(gateway, answer)).map(({ connection, outcome }) => [connection, outcome]),
    [
      [CONNECTION, "failed:payment"],
      ["el-second", "succeeded"],
    ],
  );
});

function fileOf(sandbox: Sandbox): ConfigurationFile {
  const elevenlabs = { kind: "elevenlabs" as const, base_url: sandbox.elevenlabsUrl };
  return {
    connections: [
      { id: CONNECTION, ...elevenlabs, api_key: "el-platform" },
      { id: "el-second", ...elevenlabs, api_key: "el-second" },
    ],
    routes: [
      {
        id: "speech",
        targets: [
          { connection: CONNECTION, model: "scribe_v2" },
          { connection: "el-second", model: "scribe_v2" },
        ],
      },
    ],
    workspaces: [
      {
        id: "acme",
        apps: [{ id: "notes", route: "speech", keys: [{ id: "notes-key", secret: KEY, scopes: ["transcribe"] }] }],
      },
      {
        id: "own",
        connections: [{ id: "mine", ...elevenlabs, api_key: "el-own" }],
        routes: [{ id: "own-speech", targets: [{ connection: "mine", model: "scribe_v2" }] }],
        apps: [
          { id: "app", route: "own-speech", keys: [{ id: "own-key", secret: OTHER_KEY, scopes: ["transcribe"] }] },
        ],
      },
    ],
  };
}
