// Models that their providers have and no adapter here speaks to: a request for one is refused with the reason, and the list of models has it.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Sandbox } from "../../../sandbox/server.ts";
import type { ConfigurationFile } from "../../../src/config/schema/file.ts";
import { assignableModels } from "../../../src/contract/admin/workspace-models.ts";
import { routingDecision } from "../../../src/contract/transcription/transcription-envelope.ts";
import { configurationWith } from "../../harness/configuration.ts";
import { detailsOf, postForm, send } from "../../harness/client.ts";
import { KEY } from "../../harness/gateway.ts";
import { startQuietGateway } from "../../harness/quiet-gateway.ts";
import { call, errorIn, START } from "./setup.ts";

const OPERATOR = "operator-key-of-models-not-offered";
const BLIND_KEY = "key-of-the-app-that-sees-no-names-1";
const GEMINI = "gemini-3.5-transcribe-live";
const MISTRAL = "voxtral-mini-transcribe-realtime-3";
/** As an operator may have declared them, so that a route can name them. */
const DECLARED = { capabilities: ["audio_input" as const], features: { streaming: true } };

const file = (sandbox: Sandbox): ConfigurationFile =>
  configurationWith(sandbox, {
    operator: OPERATOR,
    scopes: ["transcribe", "routing:read"],
    connections: {
      gem: { kind: "gemini", models: { [GEMINI]: DECLARED } },
      mist: { kind: "openai-compatible", base_url: sandbox.compatibleUrl("mistral"), models: { [MISTRAL]: DECLARED } },
    },
    routes: { gemini: `gem/${GEMINI}`, mistral: `mist/${MISTRAL}`, behind: [`gem/${GEMINI}`, "dg/nova-3"] },
    apps: {
      gemini: { key: KEY },
      mistral: { key: "key-of-the-app-of-voxtral-realtime" },
      behind: { key: "key-of-the-app-with-another-target" },
      blind: { route: "gemini", keys: { blind: { secret: BLIND_KEY, scopes: ["transcribe"] } } },
    },
  });

const gateway = await startQuietGateway(file);
const { origin, sandbox } = gateway;

for (const [key, name, reason] of [
  [KEY, `gem/${GEMINI}`, /no adapter for Google's Live API/u],
  ["key-of-the-app-of-voxtral-realtime", `mist/${MISTRAL}`, /no adapter for Mistral's realtime transcription/u],
] as const) {
  test(`providers.not-offered: live audio for ${name} is refused with the day and the reason, a recording too, and nothing is called`, async () => {
    const caller = await call(origin, { key });
    caller.send(START);
    assert.deepEqual(await caller.closed, [1008, "REQUIRED_FEATURE_UNSUPPORTED"]);
    const { message, details } = errorIn(caller);
    assert.deepEqual(details?.["missing"], ["not_offered"]);
    assert.ok(message.includes(`\`${name}\` is known, not offered here since 2026-11-27: `), message);
    assert.match(message, reason);
    const recording = await postForm(origin, { key });
    assert.deepEqual([recording.status, recording.code], [422, "REQUIRED_FEATURE_UNSUPPORTED"]);
    assert.deepEqual(detailsOf(recording)["missing"], ["not_offered"]);
    const decided = await postForm(origin, { key, fields: { dry_run: "true" } });
    const { candidates, outcome } = routingDecision.parse(decided.json);
    assert.deepEqual([candidates.map(({ missing }) => missing), outcome.status], [[["not_offered"]], 422]);
    assert.equal(sandbox.callCount, 0);
  });
}

test("providers.not-offered: a caller who may not see names gets the position and the day alone", async () => {
  const { text } = await postForm(origin, { key: BLIND_KEY });
  assert.match(text, /The model of target 1 is known, not offered here since 2026-11-27\./u);
  assert.doesNotMatch(text, /gemini|Google|Live API/u);
});

test("providers.not-offered: the next target serves the request", async () => {
  const answer = await postForm(origin, { key: "key-of-the-app-with-another-target" });
  assert.equal(answer.status, 200, answer.text);
  assert.deepEqual(
    sandbox.calls.map(({ model }) => model),
    ["nova-3"],
  );
});

test("providers.not-offered: the list of models has it with day, reason, source and the day of the evidence, and it is not assignable", async () => {
  const answer = await send(`${gateway.adminOrigin}/admin/v1/models`, {
    headers: { authorization: `Bearer ${OPERATOR}` },
  });
  const { data } = assignableModels.parse(answer.json);
  for (const [name, verifiedOn, source] of [
    [GEMINI, "2026-11-12", /ai\.google\.dev/u],
    [MISTRAL, "2026-11-01", /livekit-plugins-mistralai.*second-hand/u],
  ] as const) {
    const found = data.filter(({ model }) => model === name);
    assert.equal(found.length, 1, name);
    const [listed] = found;
    assert.deepEqual(
      [listed?.assignable, listed?.reason, listed?.not_offered?.since],
      [false, "not_offered", "2026-11-27"],
    );
    assert.match(listed?.not_offered?.reason ?? "", /no adapter/u);
    assert.equal(listed?.life?.verified_on, verifiedOn);
    assert.match(listed?.life?.source ?? "", source);
  }
  assert.ok(
    data.filter(({ model }) => model !== GEMINI && model !== MISTRAL).every((each) => each.not_offered === null),
  );
});
