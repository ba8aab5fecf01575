// response_profile over HTTP: it picks among the targets of the route that was resolved, with settings of its own, and never the route.
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import type { Sandbox } from "../../../sandbox/server.ts";
import type { ConfigurationFile } from "../../../src/config/schema/file.ts";
import type { Profile } from "../../../src/contract/features.ts";
import type { TranscriptionEnvelope } from "../../../src/contract/transcription/transcription-envelope.ts";
import { errorBody } from "../../../src/contract/error-body.ts";
import { fixture } from "../../audio/build-audio.ts";
import { type Answer, envelopeOf, postForm } from "../../harness/client.ts";
import { byId, configurationWith, target } from "../../harness/configuration.ts";
import { KEY, startGateway, type TestGateway } from "../../harness/gateway.ts";

let gateway: TestGateway;
before(async () => {
  gateway = await startGateway({ file: fileOf });
});
after(() => gateway.close());
beforeEach(() => {
  gateway.sandbox.clearCalls();
  gateway.sandbox.clearFaults();
});

for (const [profile, model] of [
  ["fast", "nova-3"],
  ["balanced", "nova-2"],
  ["deep", "whisper-1"],
] as const) {
  test(`routing.profile-picks-targets: ${profile} picks the first target that serves it (none listed: serves all)`, async () => {
    const envelope = envelopeOf(await ask({ response_profile: profile }));
    assert.deepEqual(called(), [model]);
    assert.deepEqual(warnings(envelope), []);
  });
}

test("routing.profile-picks-targets: no profile: the route's targets in their order", async () => {
  envelopeOf(await ask({}));
  assert.deepEqual(called(), ["nova-3"]);
});

test("routing.profile-settings: a target's settings apply, with those of the profile in force over them", async () => {
  const optOut = async (profile: Profile | null) => {
    gateway.sandbox.clearCalls();
    envelopeOf(await ask({ purpose: "tuned", ...(profile === null ? {} : { response_profile: profile }) }));
    return gateway.sandbox.calls[0]?.query.some(([name, value]) => name === "mip_opt_out" && value === "true");
  };
  assert.equal(await optOut(null), false, "the target's own setting");
  assert.equal(await optOut("fast"), false, "a profile without settings keeps the target's");
  assert.equal(await optOut("deep"), true, "the profile's own wins");
});

test("routing.profile-picks-targets: fallback stays among the targets of the profile", async () => {
  gateway.sandbox.addFault({ model: "nova-3", fault: { kind: "status", status: 500 } });
  envelopeOf(await ask({ response_profile: "fast" }));
  assert.deepEqual(called(), ["nova-3", "whisper-1"], "nova-2 is between them and serves balanced alone");
});

test("routing.profile-picks-targets: a required feature that only another profile's model has is refused, never served by that one", async () => {
  const answer = await ask({ response_profile: "deep", diarization: "true" });
  assert.equal(answer.code, "REQUIRED_FEATURE_UNSUPPORTED");
  assert.equal(gateway.sandbox.callCount, 0);
});

test("routing.profile-not-applied: no target for the profile: the default targets without its settings, and PROFILE_NOT_APPLIED", async () => {
  const envelope = envelopeOf(await ask({ purpose: "hasty", response_profile: "deep" }));
  assert.deepEqual(called(), ["nova-3"]);
  assert.deepEqual(
    envelope.warnings.map(({ code, param, details }) => [code, param, details]),
    [["PROFILE_NOT_APPLIED", "response_profile", { profile: "deep" }]],
  );
});

test("routing.profile-picks-targets: purpose picks the route and profile the target within it", async () => {
  const envelope = envelopeOf(await ask({ purpose: "other", response_profile: "balanced" }));
  assert.deepEqual(called(), ["gpt-4o-transcribe"]);
  assert.equal(envelope.svc_applied_purpose, "other");
});

test("routing.profile-forbidden: a route that forbids the override answers 400 to any profile, and serves without one", async () => {
  const refused = await ask({ purpose: "fixed", response_profile: "fast" });
  assert.equal(refused.code, "INVALID_REQUEST");
  assert.equal(errorBody.parse(refused.json).error.param, "response_profile");
  assert.equal(gateway.sandbox.callCount, 0);
  envelopeOf(await ask({ purpose: "fixed" }));
  assert.deepEqual(called(), ["nova-3"]);
});

test("request-body.all-issues: an unknown profile is a 400 that names the field", async () => {
  const answer = await ask({ response_profile: "best" });
  assert.equal(answer.code, "INVALID_REQUEST");
  assert.equal(errorBody.parse(answer.json).error.param, "response_profile");
});

function ask(fields: Readonly<Record<string, string>>): Promise<Answer> {
  return postForm(gateway.origin, { file: fixture("speech-44k-stereo.wav"), fields });
}

const called = (): readonly string[] => gateway.sandbox.calls.map((call) => call.model);
const warnings = (envelope: TranscriptionEnvelope) => envelope.warnings.map(({ code }) => code);

function fileOf(sandbox: Sandbox): ConfigurationFile {
  return configurationWith(sandbox, {
    routes: {
      speech: {
        targets: [
          target("dg/nova-3", { profiles: ["fast"] }),
          target("dg/nova-2", { profiles: ["balanced"] }),
          "oa/whisper-1",
        ],
        purposes: byId(["tuned", "hasty", "other", "fixed"], (purpose) => purpose),
      },
      tuned: [target("dg/nova-3", { settings: { mip_opt_out: false, deep: { mip_opt_out: true } } })],
      hasty: [target("dg/nova-3", { profiles: ["fast", "balanced"] })],
      other: [
        target("oa/whisper-1", { profiles: ["deep"] }),
        target("oa/gpt-4o-transcribe", { profiles: ["balanced"] }),
      ],
      fixed: { profile_override_allowed: false, targets: "dg/nova-3" },
    },
    apps: { notes: { key: KEY, scopes: ["transcribe"] } },
  });
}
