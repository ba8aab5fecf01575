// The metric `svc_model_retirement_days` against the list of retirements: both read the same apps, purposes and data policies.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Sandbox } from "../../../sandbox/server.ts";
import type { ConfigurationFile } from "../../../src/config/schema/file.ts";
import { listOf } from "../../../src/contract/admin/admin.ts";
import { retirementView } from "../../../src/contract/admin/retirements.ts";
import { configurationWith } from "../../harness/configuration.ts";
import { KEY } from "../../harness/gateway.ts";
import { startQuietGateway } from "../../harness/quiet-gateway.ts";
import { scrape } from "../../telemetry/scrape.ts";
import { call, OPERATOR_KEY, viewOf } from "./admin.ts";

const list = listOf(retirementView);
const APPS = "/admin/v1/workspaces/acme/apps";

/** `strict` loses transcription only for requests that must not be trained with, `parts` two features only for requests that need both. */
const file = (sandbox: Sandbox): ConfigurationFile =>
  configurationWith(sandbox, {
    operator: OPERATOR_KEY,
    scopes: ["transcribe"],
    connections: {
      stated: { kind: "openai", data_policy: { training: "never" } },
      // Diarization and word times, but never both.
      half: {
        kind: "deepgram",
        models: {
          speakers: { capabilities: ["audio_input"], features: { diarization: true, timestamps: [] } },
          words: { capabilities: ["audio_input"], features: { timestamps: ["word"], diarization: false } },
        },
      },
    },
    routes: {
      strict: ["dg/nova-3", "stated/gpt-4o-transcribe"],
      parts: ["aa/universal-3-pro", "half/speakers", "half/words"],
    },
    apps: { notes: { key: KEY } },
    workspaces: { acme: { routes: { mine: "stated/whisper-1" } } },
  });

const gateway = await startQuietGateway(file);

/** What Prometheus reads: the days by route, feature and evidence. */
async function scraped(): Promise<Record<string, number>> {
  const { text } = await scrape(gateway.adminOrigin);
  const series = text.matchAll(/^svc_model_retirement_days\{route="(.*)",feature="(.*)",evidence="(.*)"\} (-?\d+)$/gmu);
  return sorted(
    [...series].map(([, route, feature, evidence, days]) => [`${route} ${feature} ${evidence}`, Number(days)]),
  );
}

/** The same from the list. */
async function listed(): Promise<Record<string, number>> {
  const { data, next_cursor: next } = viewOf(list, await call(gateway, "GET", "/admin/v1/retirements?limit=100"));
  assert.equal(next, null);
  const named = Map.groupBy(
    data.filter(({ kind }) => kind === "loss"),
    ({ route, route_owner: owner, feature, evidence }) =>
      `${owner === "platform" ? route : "(workspace)"} ${feature} ${evidence}`,
  );
  return sorted([...named].map(([name, same]) => [name, Math.min(...same.map(({ days_left: days }) => days))]));
}

function sorted(entries: readonly (readonly [string, number])[]): Record<string, number> {
  return Object.fromEntries(entries.toSorted(([one], [other]) => (one < other ? -1 : 1)));
}

test("retirement.metric: what a single app loses by its data policy or by a purpose of its own is in the metric from the next scrape on, with the days of the list", async () => {
  const before = await scraped();
  assert.deepEqual(before, await listed());
  assert.equal(before["(workspace) transcription vendor"], 92);
  assert.equal(before["strict transcription vendor"], undefined, "the other target keeps it");
  assert.equal(before["parts diarization+timestamps.word vendor"], undefined);

  const policy = { slug: "clinic", route: "strict", data_policy: { training: "never" } };
  assert.equal((await call(gateway, "POST", APPS, { body: policy })).status, 201);
  const strict = await scraped();
  assert.equal(strict["strict transcription vendor"], 92);
  assert.deepEqual(strict, await listed());

  const defaults = { diarization: true, timestamps: "word" };
  const purpose = { slug: "minutes", route: "strict", purposes: [{ purpose: "together", route: "parts", defaults }] };
  const made = await call(gateway, "POST", APPS, { body: purpose });
  assert.equal(made.status, 201, made.text);
  const both = await scraped();
  assert.equal(both["parts diarization+timestamps.word vendor"], -85);
  assert.deepEqual(both, await listed());
  const { text } = await scrape(gateway.adminOrigin);
  const features = [...text.matchAll(/^svc_model_retirement_days\{.*feature="(.*)",evidence/gmu)].map(
    ([, each]) => each,
  );
  const isCombination = features.map((feature) => feature?.includes("+") === true);
  assert.equal(
    isCombination.lastIndexOf(false) < isCombination.indexOf(true),
    true,
    "they are the first to be cut off",
  );

  for (const { slug } of [policy, purpose])
    assert.equal((await call(gateway, "DELETE", `${APPS}/${slug}`)).status, 200);
  assert.deepEqual(await scraped(), before);
});
