// What every speech provider must prove:
// each declared feature changes the request as documented, and each failure has its kind.
import assert from "node:assert/strict";
import { test } from "node:test";
import { FEATURES, PREFERENCES, type Feature } from "../../../src/contract/features.ts";
import type { SpeechProvider, SpeechRequest, SpeechTarget } from "../../../src/providers/provider.ts";
import { failureContract } from "./failure-suite.ts";
import { ASKING, type Change, type GoldenModel, type Parameter, PREFERRING, requestFor } from "./fixtures.ts";
import { everyModelFails } from "./model-failures.ts";
import { type ContractSubject, parametersOf, targetOf } from "./subject.ts";
import { wireContract } from "./wire-suite.ts";

export function speechContract(subject: ContractSubject): void {
  for (const golden of subject.golden) goldenRequests(subject.provider, golden);
  modelsAreGolden(subject);
  wireContract(subject);
  failureContract(subject);
  everyModelFails(subject);
}

function goldenRequests(provider: SpeechProvider, golden: GoldenModel): void {
  const { speech, target } = targetOf(provider, golden);
  const name = `${provider.kind}/${golden.model}${golden.settings === undefined ? "" : ` ${JSON.stringify(golden.settings)}`}`;
  const planned = (wishes: Partial<SpeechRequest>): ReturnType<SpeechProvider["plan"]> =>
    provider.plan(requestFor(speech, wishes), target);

  /** What the gateway does is not on the wire. */
  const onWire = Object.entries(speech.features).filter(([, support]) => support.byGateway !== true);

  test(`providers.golden-requests: ${name}: a request without features sends the documented base and nothing else`, () => {
    assertWire(planned({}), golden, {});
  });

  test(`providers.golden-requests: ${name} declares exactly the features that have a recorded request`, () => {
    assert.deepEqual(onWire.map(([feature]) => feature).toSorted(), Object.keys(golden.features).toSorted());
  });

  for (const feature of FEATURES) {
    const change = golden.features[feature];
    if (change !== undefined) {
      test(`providers.golden-requests: ${name} sends ${feature}`, () => {
        assertWire(planned(ASKING[feature]), golden, change);
      });
    } else {
      test(`providers.declared-features: ${name} refuses ${feature}, which it does not have, instead of dropping it`, () => {
        assertRefused(planned(ASKING[feature]), feature);
      });
      test(`providers.declared-features: a declaration alone does not make ${name} drop ${feature} silently`, () => {
        assertSentOrRefused(provider, golden, target, feature);
      });
    }
  }

  for (const preference of PREFERENCES) {
    const change = golden.preferences[preference];
    const verb = change === "dropped" ? "names as dropped" : "accepts";
    test(`providers.golden-requests, providers.preference-named: ${name} ${verb} the preference ${preference}`, () => {
      const result = planned(PREFERRING[preference]);
      assertWire(result, golden, change === "dropped" ? {} : change);
      assert.ok(result.ok);
      assert.deepEqual(result.dropped, change === "dropped" ? [preference] : []);
      assert.equal(speech.preferences.includes(preference), change !== "dropped", "and its model data agree");
    });
  }

  for (const [feature, support] of onWire) {
    if (support.languages === undefined) continue;
    test(`providers.conditional-features: ${name} refuses ${feature} outside its languages, and where the language is unknown`, () => {
      const wishes = ASKING[feature as keyof typeof ASKING];
      for (const language of [{ kind: "asked", tag: "eo" }, { kind: "detect" }, { kind: "auto" }] as const) {
        assertRefused(planned({ ...wishes, language }), feature as Feature);
      }
    });
  }
}

/** The operator may declare what the protocol cannot say; then the request changes, or it is refused. */
function assertSentOrRefused(
  provider: SpeechProvider,
  golden: GoldenModel,
  target: SpeechTarget,
  feature: keyof typeof ASKING,
): void {
  const declared: SpeechTarget = {
    ...target,
    speech: {
      ...target.speech,
      features: { ...target.speech.features, [feature]: { support: "native", grade: "sent" } },
      excludes: [],
    },
  };
  const result = provider.plan(requestFor(declared.speech, ASKING[feature]), declared);
  if (!result.ok) return assert.deepEqual(result.missing, [feature]);
  const base = { path: golden.path, parameters: sorted(golden.base) };
  const sent = { path: result.plan.path, parameters: sorted(parametersOf(result.plan)) };
  assert.notDeepEqual(sent, base);
}

function modelsAreGolden({ provider, golden }: ContractSubject): void {
  test(`providers.golden-requests: ${provider.kind}: every model in the catalogue has recorded requests`, () => {
    const covered = new Set(golden.map(({ model }) => model));
    assert.deepEqual(
      Object.keys(provider.models).filter((model) => !covered.has(model)),
      [],
    );
  });
}

function assertWire(result: ReturnType<SpeechProvider["plan"]>, golden: GoldenModel, change: Change): void {
  assert.ok(result.ok, `refused: ${JSON.stringify(result)}`);
  const removed = new Set((change.removed ?? []).map(String));
  for (const parameter of removed)
    assert.ok(golden.base.map(String).includes(parameter), "a golden row removes what the base has");
  const expected = [...golden.base.filter((parameter) => !removed.has(String(parameter))), ...(change.added ?? [])];
  assert.deepEqual(
    { path: result.plan.path, parameters: sorted(parametersOf(result.plan)) },
    { path: change.path ?? golden.path, parameters: sorted(expected) },
  );
}

/** The order of different names means nothing on either wire; that of equal names is kept. */
function sorted(parameters: readonly Parameter[]): readonly Parameter[] {
  return parameters.toSorted(([one], [other]) => (one < other ? -1 : one > other ? 1 : 0));
}

function assertRefused(result: ReturnType<SpeechProvider["plan"]>, feature: Feature): void {
  assert.equal(result.ok, false);
  assert.ok(!result.ok && result.missing.includes(feature), JSON.stringify(result));
}
