// Data policies in routing, exhaustively: each requirement against each set of facts, wherever the requirement is set. What proves what is written here a second
// time, as a table, so that a slip in the rule shows as a disagreement.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { DataPolicyRequirement } from "../../src/contract/settings/data-policy.ts";
import type { PolicyFact } from "../../src/providers/data-policy/policy-fact.ts";
import { combineDataPolicies, type RequiredDataPolicy, requiredDataPolicy } from "../../src/routing/data-policy.ts";
import { decideChatRoute } from "../../src/routing/decide-chat-route.ts";
import { decideRoute } from "../../src/routing/decide-route.ts";
import { decideAudio } from "../../src/routing/decide-translation.ts";
import type { RoutingContext, Target } from "../../src/routing/types.ts";
import { audioContext, model, purpose, route, speechTarget, textTarget } from "./routing-fixtures.ts";

const VENDOR = { basis: "vendor", source: "a page", verifiedOn: null } as const;
const training = (value: "never" | "opt_out_sent" | "possible"): PolicyFact => ({
  aspect: "training",
  value,
  ...VENDOR,
  ...(value === "opt_out_sent" ? { forces: { opt_out: true } } : {}),
});
const retention = (value: "none" | "deletable" | number): PolicyFact => ({ aspect: "retention", value, ...VENDOR });
const regions = (value: "any" | readonly string[]): PolicyFact => ({ aspect: "regions", value, ...VENDOR });

/** Name, facts, and which requirements they prove. */
type Proof = readonly [name: string, facts: readonly PolicyFact[], proves: readonly string[]];
const TRAINING: readonly Proof[] = [
  ["unknown", [], []],
  ["possible", [training("possible")], []],
  ["never", [training("never")], ["never"]],
  ["opt-out", [training("possible"), training("opt_out_sent")], ["never"]],
];
const RETENTION: readonly Proof[] = [
  ["unknown", [], []],
  ["none", [retention("none")], ["none", "deletable", "7", "30"]],
  ["deletable", [retention("deletable")], ["deletable"]],
  ["7 days", [retention(7)], ["7", "30"]],
  ["30 days", [retention(30)], ["30"]],
  ["31 days", [retention(31)], []],
  ["30 days or deleted", [retention(30), retention("deletable")], ["deletable", "30"]],
];
const REGIONS: readonly Proof[] = [
  ["unknown", [], []],
  ["any", [regions("any")], ["eu", "us", "eu us"]],
  ["eu", [regions(["eu"])], ["eu", "eu us"]],
  ["us", [regions(["us"])], ["us", "eu us"]],
  ["eu and us", [regions(["eu", "us"])], ["eu us"]],
  ["an empty list", [regions([])], []],
];

const REQUIREMENTS: readonly DataPolicyRequirement[] = [null, "never" as const].flatMap((never) =>
  [null, "none" as const, "deletable" as const, 7, 30].flatMap((kept) =>
    [null, ["eu"], ["us"], ["eu", "us"]].map((where) => ({
      ...(never === null ? {} : { training: never }),
      ...(kept === null ? {} : { retention: kept }),
      ...(where === null ? {} : { regions: where }),
    })),
  ),
);

function lacksOf(required: DataPolicyRequirement, proofs: readonly [Proof, Proof, Proof]): readonly string[] {
  const wanted = [
    ["data_policy.training", required.training ?? null],
    ["data_policy.retention", required.retention ?? null],
    ["data_policy.regions", required.regions?.join(" ") ?? null],
  ] as const;
  return wanted.flatMap(([lack, value], index) =>
    value === null || proofs[index]?.[2].includes(String(value)) === true ? [] : [lack],
  );
}

const COMBINATIONS = TRAINING.flatMap((one) =>
  RETENTION.flatMap((two) => REGIONS.map((three): readonly [Proof, Proof, Proof] => [one, two, three])),
);

type Place = "request" | "app" | "route" | "purpose" | "selected route";
const PLACES: readonly Place[] = ["request", "app", "route", "purpose", "selected route"];

const MODEL = model({ translation: { support: "native", grade: "shown" } });

function targetsOf(facts: readonly PolicyFact[]): readonly Target[] {
  return [
    speechTarget(1, MODEL, { dataPolicy: { audio_input: facts } }),
    // Nothing is known of it, and of its chat only.
    speechTarget(2, MODEL, { dataPolicy: { chat: [training("never"), retention("none"), regions("any")] } }),
    speechTarget(3, MODEL),
    { ...textTarget(4), dataPolicy: { chat: facts } },
    { ...textTarget(5), dataPolicy: { audio_input: [training("never"), retention("none"), regions("any")] } },
  ];
}

function settingOf(place: Place, required: DataPolicyRequirement, facts: readonly PolicyFact[]) {
  const policy = requiredDataPolicy(required);
  const at = (wanted: Place): { dataPolicy: RequiredDataPolicy | null } => ({
    dataPolicy: place === wanted ? policy : null,
  });
  const selected = route("selected", targetsOf(facts), at("selected route"));
  const own = route("own", targetsOf(facts), {
    ...at("route"),
    purposes: [purpose("p", "selected", at("purpose"))],
  });
  const context: RoutingContext = audioContext(own, [own, selected], at("app"));
  const fields = { purpose: "p", ...(place === "request" ? { data_policy: required } : {}) };
  return { context, fields };
}

const PURPOSE = { body: "p", header: null, policy: null };
const planned = { ok: true, plan: { path: "", query: [], headers: {}, body: {} }, dropped: [] } as const;

test("data-policy.fail-closed: over all combinations of requirement, facts and place no target without proof is ever a candidate, for audio and for chat", () => {
  let decisions = 0;
  for (const required of REQUIREMENTS) {
    for (const proofs of COMBINATIONS) {
      const facts = proofs.flatMap(([, each]) => each);
      const lacks = lacksOf(required, proofs);
      const nothingRequired = requiredDataPolicy(required) === null;
      for (const place of PLACES) {
        const about = JSON.stringify({ required, facts: proofs.map(([name]) => name), place });
        const { context, fields } = settingOf(place, required, facts);
        const audio = decideRoute(context, { task: "transcribe", fields, purpose: PURPOSE, audio: null }, () => null);
        const chat = decideChatRoute(
          context,
          {
            request: {} as never,
            purpose: PURPOSE,
            profile: null,
            dataPolicy: fields.data_policy ?? null,
            plan: () => planned,
          },
          () => null,
        );
        for (const [decision, known, others] of [
          [audio, 1, [2, 3]],
          [chat, 4, [5]],
        ] as const) {
          decisions += 1;
          const eligible = decision.ok ? decision.candidates.map(({ target }) => target.position) : [];
          const expected = nothingRequired ? [known, ...others] : lacks.length === 0 ? [known] : [];
          assert.deepEqual(eligible, expected, about);
          const considered = decision.considered.find(({ target }) => target.position === known);
          assert.deepEqual(considered?.verdict.missing, lacks, about);
          if (decision.ok) continue;
          assert(decision.refusal.kind === "unsupported", about);
          assert.ok(decision.refusal.missing.length > 0, about);
          assert.ok(
            decision.refusal.missing.every((lack) => lack.startsWith("data_policy.")),
            about,
          );
        }
      }
    }
  }
  assert.equal(decisions, REQUIREMENTS.length * COMBINATIONS.length * PLACES.length * 2);
  assert.ok(decisions > 60_000);
});

test("data-policy.tighten-only: whatever a request sends, its targets are among those of its app, and among those of its own requirement", () => {
  const facts = COMBINATIONS.map((proofs) => proofs.flatMap(([, each]) => each));
  const targets = facts.map((each, index) => speechTarget(index + 1, MODEL, { dataPolicy: { audio_input: each } }));
  const own = route("own", targets);
  const eligible = (app: DataPolicyRequirement | null, request: DataPolicyRequirement | null): ReadonlySet<number> => {
    const context = audioContext(own, [own], { dataPolicy: requiredDataPolicy(app) });
    const fields = request === null ? {} : { data_policy: request };
    const question = { task: "transcribe", fields, purpose: { ...PURPOSE, body: null }, audio: null } as const;
    const decision = decideRoute(context, question, () => null);
    return new Set(decision.ok ? decision.candidates.map(({ target }) => target.position) : []);
  };
  for (const app of REQUIREMENTS) {
    const ofApp = eligible(app, null);
    for (const request of REQUIREMENTS) {
      const ofBoth = eligible(app, request);
      const shared = ofApp.intersection(eligible(null, request));
      assert.ok(ofBoth.isSubsetOf(shared), JSON.stringify({ app, request }));
      // Regions without one in common refuse even what leaves no region.
      const common = app.regions?.filter((each) => request.regions?.includes(each) !== false) ?? ["any"];
      assert.deepEqual(ofBoth, common.length === 0 ? new Set() : shared, JSON.stringify({ app, request }));
    }
  }
});

test("data-policy.regions-intersect: regions of several requirements are intersected; without one in common nothing is eligible", () => {
  const required = (where: readonly string[]) => requiredDataPolicy({ regions: [...where] });
  assert.deepEqual(combineDataPolicies([required(["eu", "us"]), null, required(["us", "in"])])?.regions, ["us"]);
  assert.deepEqual(combineDataPolicies([required(["eu"]), required(["us"])])?.regions, []);
  const local = speechTarget(1, MODEL, { dataPolicy: { audio_input: [regions("any")] } });
  const own = route("own", [local], { dataPolicy: required(["eu"]) });
  const fields = { data_policy: { regions: ["us"] } };
  const decision = decideRoute(
    audioContext(own, [own]),
    { task: "transcribe", fields, purpose: { ...PURPOSE, body: null }, audio: null },
    () => null,
  );
  assert(!decision.ok && decision.refusal.kind === "unsupported");
  assert.deepEqual(decision.refusal.missing, ["data_policy.regions"]);
});

test("data-policy.opt-out-forced: a target that is eligible by an opt-out is planned with it, whatever its settings and those of its profile say", () => {
  const target = speechTarget(1, MODEL, {
    settings: { opt_out: false, other: 1 },
    profileSettings: { fast: { opt_out: false } },
    dataPolicy: { audio_input: [training("opt_out_sent")] },
  });
  const own = route("own", [target]);
  const settingsWith = (data_policy: DataPolicyRequirement | undefined) => {
    const fields = { response_profile: "fast" as const, ...(data_policy === undefined ? {} : { data_policy }) };
    const question = { task: "transcribe", fields, purpose: { ...PURPOSE, body: null }, audio: null } as const;
    const decision = decideRoute(audioContext(own, [own]), question, () => null);
    return decision.ok ? decision.candidates[0]?.settings : null;
  };
  assert.deepEqual(settingsWith({ training: "never" }), { opt_out: true, other: 1 });
  assert.deepEqual(settingsWith(undefined), { opt_out: false, other: 1 });
});

test("data-policy.facts: a fact that depends on a setting holds only with it", () => {
  const located: PolicyFact = { ...regions(["eu"]), onlyWith: { location: ["eu"], bucket: [null] } };
  for (const [settings, isEligible] of [
    [{ location: "eu" }, true],
    [{ location: "us" }, false],
    [{}, false],
    [{ location: "eu", bucket: "recordings" }, false],
  ] as const) {
    const own = route("own", [speechTarget(1, MODEL, { settings, dataPolicy: { audio_input: [located] } })]);
    const fields = { data_policy: { regions: ["eu"] } };
    const question = { task: "transcribe", fields, purpose: { ...PURPOSE, body: null }, audio: null } as const;
    assert.equal(decideRoute(audioContext(own, [own]), question, () => null).ok, isEligible);
  }
});

test("data-policy.fail-closed, routing.translation-via-chat: a chat target that translates a transcript is judged like the others", () => {
  const heard = speechTarget(1, model(), { dataPolicy: { audio_input: [training("never")] } });
  const decide = (chatFacts: readonly PolicyFact[]) => {
    const writer = { ...textTarget(2), dataPolicy: { chat: chatFacts } };
    const own = route("own", [heard, writer], { translateViaChat: true });
    const question = {
      task: "translate" as const,
      fields: { data_policy: { training: "never" as const } },
      purpose: { ...PURPOSE, body: null },
      audio: null,
    };
    return decideAudio(
      audioContext(own, [own]),
      question,
      () => planned,
      () => null,
    );
  };
  assert.ok(decide([training("opt_out_sent")]).byChat?.candidates.length === 1);
  for (const facts of [[], [training("possible")]]) assert.equal(decide(facts).decision.ok, false);
});

test("data-policy.tighten-only: a purpose that is named and cannot be applied still requires what it and its route require", () => {
  const facts = [training("never"), regions(["eu"])];
  const own = route("own", [speechTarget(1, MODEL), speechTarget(2, MODEL, { dataPolicy: { audio_input: facts } })], {
    purposes: [purpose("off", "selected", { isEnabled: false, dataPolicy: requiredDataPolicy({ training: "never" }) })],
  });
  const selected = route("selected", [speechTarget(1, MODEL)], { dataPolicy: requiredDataPolicy({ regions: ["eu"] }) });
  const eligible = (label: string | null, defaultPurpose: string | null = null) => {
    const context = audioContext(own, [own, selected], { defaultPurpose });
    const question = { task: "transcribe", fields: {}, purpose: { ...PURPOSE, body: label }, audio: null } as const;
    const decision = decideRoute(context, question, () => null);
    assert.deepEqual(decision.route?.id, "own");
    return decision.ok ? decision.candidates.map(({ target }) => target.position) : [];
  };
  assert.deepEqual(eligible("off"), [2]);
  assert.deepEqual(eligible(null, "off"), [2]);
  assert.deepEqual(eligible("unknown"), [1, 2]);
  assert.deepEqual(eligible(null), [1, 2]);
});
