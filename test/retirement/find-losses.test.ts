// What one route loses, by invented lives of its models: evidence, redirects, several dates.
import assert from "node:assert/strict";
import { test } from "node:test";
import { permanentLackFor } from "../../src/gateway/calls/target-unavailability.ts";
import { findLosses, type Judging, type RouteLoss } from "../../src/gateway/retirement/find-losses.ts";
import { retirementText } from "../../src/gateway/retirement/retirement-text.ts";
import { createPriceBook } from "../../src/metering/price.ts";
import type { ModelLife } from "../../src/providers/model-life.ts";
import type { FeatureSupport, SpeechModel } from "../../src/providers/provider.ts";
import type { Target } from "../../src/routing/types.ts";
import { model, route, speechTarget } from "../routing/routing-fixtures.ts";

const NATIVE: FeatureSupport = { support: "native", grade: "shown" };
const BOTH = { diarization: NATIVE, "timestamps.word": NATIVE } as const;
const LIFE: ModelLife = { verifiedOn: "2026-11-01", source: "the page" };
const prices = createPriceBook([]);

const judging = (answering: SpeechModel | null = null): Judging => ({
  lacksOn: (day) =>
    permanentLackFor({ prices: () => prices, modelClock: () => new Date(day) }, { testMode: false, hasPlan: false }),
  plannerOf: () => () => ({ ok: false, missing: [] }),
  modelOn: () => (answering === null ? null : { speech: answering, chat: null }),
});

const withLife = (position: number, life: Partial<ModelLife>, features = {}): Target =>
  speechTarget(position, model(features, { life: { ...LIFE, ...life } }));
const vendor = (date: string) => ({ endsOn: { date, evidence: "vendor" } }) as const;
const secondHand = (date: string) => ({ endsOn: { date, evidence: "second_hand" } }) as const;

const facts = (losses: readonly RouteLoss[]): unknown =>
  losses.map(({ kind, date, evidence, feature }) => [kind, date, evidence, feature]);

test("retirement.by-router: each feature is lost on the last of the dates of the targets that have it", () => {
  const own = route("r", [
    withLife(1, vendor("2027-01-01"), BOTH),
    withLife(2, vendor("2027-02-01"), { diarization: NATIVE }),
    speechTarget(3),
  ]);
  assert.deepEqual(facts(findLosses(own, judging())), [
    ["loss", "2027-01-01", "vendor", "timestamps.word"],
    ["loss", "2027-02-01", "vendor", "diarization"],
  ]);
  assert.deepEqual(findLosses(route("r", [speechTarget(1)]), judging()), []);
});

test("retirement.second-hand: a second-hand date is reported as such, and one that decides makes the loss second-hand", () => {
  const only = route("r", [withLife(1, secondHand("2027-01-01"), BOTH)]);
  assert.deepEqual(facts(findLosses(only, judging())), [["loss", "2027-01-01", "second_hand", "transcription"]]);
  const mixed = route("r", [
    withLife(1, secondHand("2027-01-01"), { diarization: NATIVE }),
    withLife(2, vendor("2027-02-01"), BOTH),
    speechTarget(3),
  ]);
  assert.deepEqual(facts(findLosses(mixed, judging())), [
    ["loss", "2027-02-01", "vendor", "timestamps.word"],
    ["loss", "2027-02-01", "second_hand", "diarization"],
  ]);
});

const REDIRECTED = { redirect: { date: "2027-01-01", evidence: "vendor", model: "newer" } } as const;

test("retirement.redirect: a redirect is the end of what the answering model lacks, and otherwise an announcement", () => {
  const own = route("r", [withLife(1, REDIRECTED, BOTH), speechTarget(2)]);
  const losses = findLosses(own, judging(model({ "timestamps.word": NATIVE })));
  assert.deepEqual(facts(losses), [["loss", "2027-01-01", "vendor", "diarization"]]);
  const [lost] = losses;
  assert(lost !== undefined);
  assert.equal(
    retirementText({ ...lost, dataPolicy: null, route: own }, Date.parse("2026-12-01")),
    "On 2027-01-01 route `r` can no longer deliver diarization: its last capable target `c1/m1` is answered by `newer`.",
  );
  for (const answering of [model(BOTH), null])
    assert.deepEqual(facts(findLosses(own, judging(answering))), [["redirect", "2027-01-01", "vendor", "model"]]);
});

test("retirement.redirect: the end of a redirected name is the end of the target, whatever model answers until then", () => {
  const own = route("r", [withLife(1, { ...REDIRECTED, ...vendor("2027-02-01") }, BOTH)]);
  assert.deepEqual(facts(findLosses(own, judging(model(BOTH)))), [
    ["redirect", "2027-01-01", "vendor", "model"],
    ["loss", "2027-02-01", "vendor", "transcription"],
  ]);
});
