// Workspaces name the models of their own connections as they like: in metrics these share one label value, so that they neither fill the
// bounded series of the operator's models nor show a tenant's words.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Sandbox } from "../../sandbox/server.ts";
import type { ConfigurationFile } from "../../src/config/schema/file.ts";
import { newId } from "../../src/contract/ids.ts";
import { createMetrics } from "../../src/telemetry/metrics.ts";
import { postForm } from "../harness/client.ts";
import { KEY, OTHER_KEY, startGateway } from "../harness/gateway.ts";
import { pauseIn } from "../harness/pause.ts";
import { scrape } from "./scrape.ts";

const SPENT = { audioMs: 1_000, billableMs: 0, chargeNanoUsd: 0n, inputTokens: 0, outputTokens: 0 };

test("metrics.workspace-models: models of workspaces share one series each, however many they are, and the operator's keep their names", async () => {
  const metrics = createMetrics({
    version: "1",
    jobsByState: async () => [],
    budgetsByState: async () => [],
    circuits: () => [],
    retirements: async () => [],
  });
  const call = (model: string, isWorkspaceOwned: boolean) =>
    metrics.called({
      requestId: newId("request"),
      attemptId: newId("attempt"),
      operation: "transcription",
      provider: "openai-compatible",
      model,
      isWorkspaceOwned,
      outcome: "succeeded",
      startedAtMs: 0,
      endedAtMs: 1,
      spent: { ...SPENT, billingClass: "provider_billed" },
    });
  for (let index = 0; index < 5_000; index += 1) call(`tenant-${index}`, true);
  call("of-the-operator", false);
  const text = await metrics.text();
  assert.doesNotMatch(text, /tenant-|="other"/u);
  for (const name of [
    "svc_upstream_attempts_total",
    "svc_upstream_attempt_duration_seconds_count",
    "svc_audio_seconds_total",
  ]) {
    const series = text.split("\n").filter((line) => line.startsWith(`${name}{`));
    const models = series.map((line) => /model="([^"]*)"/u.exec(line)?.[1]);
    assert.deepEqual(models, ["(workspace)", "of-the-operator"], name);
  }
  assert.match(text, /svc_upstream_attempts_total\{[^}]*model="\(workspace\)"[^}]*\} 5000\n/u);
});

function file(sandbox: Sandbox): ConfigurationFile {
  const model = "words-of-a-tenant";
  const key = (id: string, secret: string) => ({ id, secret, scopes: ["transcribe" as const] });
  return {
    connections: [{ id: "dg", kind: "deepgram", api_key: "secret", base_url: sandbox.deepgramUrl }],
    routes: [{ id: "speech", targets: [{ connection: "dg", model: "nova-3" }] }],
    workspaces: [
      { id: "acme", apps: [{ id: "notes", route: "speech", keys: [key("notes", KEY)] }] },
      {
        id: "other",
        connections: [
          {
            id: "own",
            kind: "openai-compatible",
            api_key: "secret",
            base_url: sandbox.openaiUrl,
            models: { [model]: { capabilities: ["audio_input"] } },
          },
        ],
        routes: [{ id: "mine", targets: [{ connection: "own", model }] }],
        apps: [{ id: "app", route: "mine", keys: [key("other", OTHER_KEY)] }],
      },
    ],
  };
}

test("metrics.workspace-models: a call and a circuit of a workspace's connection are counted without the name of its model", async () => {
  const gateway = await startGateway({ file });
  try {
    await postForm(gateway.origin);
    await postForm(gateway.origin, { key: OTHER_KEY });
    await pauseIn(gateway, "dg");
    const { text, value } = await scrape(gateway.adminOrigin);
    assert.doesNotMatch(text, /words-of-a-tenant/u);
    const circuit = (provider: string, model: string) =>
      value(`svc_provider_circuit_state{provider="${provider}",model="${model}"}`);
    assert.deepEqual([circuit("openai-compatible", "(workspace)"), circuit("deepgram", "nova-3")], [0, 2]);
    assert.match(text, /svc_upstream_attempts_total\{provider="openai-compatible",model="\(workspace\)",/u);
    assert.match(text, /svc_upstream_attempts_total\{provider="deepgram",model="nova-3",/u);
  } finally {
    await gateway.close();
  }
});
