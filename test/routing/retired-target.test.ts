// Targets whose models their providers have ended: skipped for every kind of work, with the reason, and refused if nothing else is left.
import assert from "node:assert/strict";
import { test } from "node:test";
import { refusalError } from "../../src/gateway/calls/routing-errors.ts";
import type { ModelEnd, ModelLife } from "../../src/providers/model-life.ts";
import type { FeatureSupport } from "../../src/providers/provider.ts";
import { decideChatRoute } from "../../src/routing/decide-chat-route.ts";
import { decideRoute, type RouteDecision } from "../../src/routing/decide-route.ts";
import { decideAudio } from "../../src/routing/decide-translation.ts";
import type { UnavailabilityOf } from "../../src/routing/pick-candidates.ts";
import { retiredTarget } from "../../src/routing/retired-target.ts";
import type { Target } from "../../src/routing/types.ts";
import { HELLO } from "../providers/chat/fixtures.ts";
import { audioContext, model, route, speechTarget, textTarget } from "./routing-fixtures.ts";

const NATIVE: FeatureSupport = { support: "native", grade: "shown" };
const END = "2027-02-26";
const BEFORE = Date.parse("2027-02-25T23:59:59.999Z");
const AFTER = Date.parse("2027-02-26T00:00:00Z");

function life(end: Partial<ModelEnd> = {}): ModelLife {
  return {
    verifiedOn: "2026-11-13",
    source: "the page",
    endsOn: { date: END, evidence: "vendor", ...end },
  };
}

const ending = (position: number, own = life()): Target => speechTarget(position, model({}, { life: own }));
const endingChat = (position: number): Target => ({
  ...textTarget(position),
  chat: { features: [], preferences: [], limits: {}, life: life() },
});

const at =
  (nowMs: number): UnavailabilityOf =>
  (target, capability) =>
    retiredTarget(target, capability, nowMs);

const QUESTION = {
  task: "transcribe",
  fields: {},
  purpose: { body: null, header: null, policy: null },
  audio: { format: "wav", sizeBytes: 1000, durationSeconds: 10, channels: 1 },
} as const;
const PLANNED = { ok: true, plan: { path: "", query: [], headers: {}, body: {} }, dropped: [] } as const;

function transcribe(targets: readonly Target[], nowMs: number, fields = {}, unavailabilityOf = at(nowMs)) {
  const own = route("r", targets);
  return decideRoute(audioContext(own, [own]), { ...QUESTION, fields }, unavailabilityOf);
}

function positions(decision: RouteDecision<unknown, { readonly missing: readonly string[] }>): unknown {
  return decision.ok ? decision.candidates.map(({ target }) => target.position) : decision.refusal;
}

test("routing.model-retired: on the provider's own date, in UTC, a target is skipped and the next one serves", () => {
  const targets = [ending(1), speechTarget(2)];
  assert.deepEqual(positions(transcribe(targets, BEFORE)), [1, 2]);
  const after = transcribe(targets, AFTER);
  assert.deepEqual(positions(after), [2]);
  assert.deepEqual(after.considered[0]?.verdict.missing, ["model_retired"]);
  assert.deepEqual(after.considered[0]?.retired, { date: END, source: "the page" });
  assert.equal(after.considered[1]?.retired, undefined);
});

test("routing.model-retired: the same for a chat, by the life of the chat model", () => {
  const own = route("r", [endingChat(1), textTarget(2)]);
  const question = {
    request: { ...HELLO, messages: [], maxTokens: null },
    purpose: QUESTION.purpose,
    profile: null,
    plan: () => PLANNED,
  };
  const decide = (nowMs: number) => decideChatRoute(audioContext(own, [own]), question, at(nowMs));
  assert.deepEqual(positions(decide(BEFORE)), [1, 2]);
  assert.deepEqual(positions(decide(AFTER)), [2]);
});

test("routing.model-retired: where the model that translates has ended, a chat of the route translates, and a chat model that has ended does not", () => {
  const translating = speechTarget(1, model({ translation: NATIVE }, { life: life() }));
  const decide = (nowMs: number, chat: Target) => {
    const own = route("r", [translating, speechTarget(2), chat], { translateViaChat: true });
    const question = { ...QUESTION, task: "translate" } as const;
    return decideAudio(audioContext(own, [own]), question, () => PLANNED, at(nowMs));
  };
  assert.equal(decide(BEFORE, textTarget(3)).byChat, null);
  const byChat = decide(AFTER, textTarget(3));
  assert.deepEqual(positions(byChat.decision), [2]);
  assert.deepEqual(
    byChat.byChat?.candidates.map(({ target }) => target.position),
    [3],
  );
  assert.deepEqual(positions(decide(AFTER, endingChat(3)).decision), { kind: "model_retired" });
});

test("routing.retired-second-hand: a date from another source skips no target", () => {
  const targets = [ending(1, life({ evidence: "second_hand", source: "a forum" })), speechTarget(2)];
  assert.deepEqual(positions(transcribe(targets, AFTER)), [1, 2]);
});

test("routing.retired-refusal: without another target 503 model_retired, not retryable, with names and source for routing:read only", () => {
  const decision = transcribe([ending(1), speechTarget(2, model({}, { streamsOnly: true }))], AFTER);
  assert(!decision.ok);
  assert.deepEqual(decision.refusal, { kind: "model_retired" });
  const shown = refusalError(decision.refusal, decision.considered, true);
  assert.deepEqual([shown.code, shown.retryable], ["NO_HEALTHY_PROVIDER", false]);
  assert.match(shown.message, /c1\/m1 on 2027-02-26/u);
  assert.deepEqual(shown.details, {
    reason: "model_retired",
    candidates: [
      {
        position: 1,
        missing: ["model_retired"],
        retired: { ended_on: END, source: "the page" },
        connection: "c1",
        provider: "deepgram",
        model: "m1",
      },
      { position: 2, missing: ["batch"], connection: "c2", provider: "deepgram", model: "m2" },
    ],
  });
  const hidden = refusalError(decision.refusal, decision.considered, false);
  assert.match(hidden.message, /target 1 on 2027-02-26/u);
  assert.doesNotMatch(JSON.stringify([hidden.message, hidden.details]), /m1|c1|the page/u);
});

test("routing.retired-refusal: where every target lacks a feature, too, the features alone are refused, and a missing price comes first", () => {
  const featureless = transcribe([ending(1), speechTarget(2)], AFTER, { diarization: true });
  assert.deepEqual(positions(featureless), { kind: "unsupported", missing: ["diarization"] });
  const withPrice = transcribe([ending(1), speechTarget(2)], AFTER, {}, (target, capability) =>
    target.position === 2 ? { kind: "unpriced" } : at(AFTER)(target, capability),
  );
  assert.deepEqual(positions(withPrice), { kind: "credits_required" });
});
