// How a translation is made: natively first, through chat where the route allows it, or not at all.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { TranslationFields } from "../../src/contract/transcription/transcription-fields.ts";
import type { FeatureSupport } from "../../src/providers/provider.ts";
import { type AudioDecision, decideAudio } from "../../src/routing/decide-translation.ts";
import type { Route, Target } from "../../src/routing/types.ts";
import { audioContext, model, route, speechTarget, textTarget } from "./routing-fixtures.ts";

const NATIVE: FeatureSupport = { support: "native", grade: "shown" };
const AUDIO = { format: "wav", sizeBytes: 1000, durationSeconds: 10, channels: 1 } as const;

const deaf = (position: number): Target => speechTarget(position, model({ "timestamps.segment": NATIVE }));
const intoEnglish = (position: number): Target => speechTarget(position, model({ translation: NATIVE }));

function decide(
  own: Route,
  fields: TranslationFields = {},
  rest: { readonly resting?: readonly number[]; readonly task?: "transcribe" } = {},
): AudioDecision {
  return decideAudio(
    audioContext(own, [own]),
    {
      task: rest.task ?? "translate",
      fields,
      purpose: { body: null, header: null, policy: null },
      audio: AUDIO,
    },
    () => ({ ok: true, plan: { path: "", query: [], headers: {}, body: {} }, dropped: [] }),
    ({ position }) => ((rest.resting ?? []).includes(position) ? { kind: "after_failures" } : null),
  );
}

const via = (targets: readonly Target[], rest: Partial<Route> = {}): Route =>
  route("r", targets, { translateViaChat: true, ...rest });

function positionsOf({ decision, byChat }: AudioDecision): unknown {
  if (!decision.ok) return decision.refusal;
  const positions = decision.candidates.map(({ target }) => target.position);
  return byChat === null ? positions : [positions, byChat.candidates.map(({ target }) => target.position)];
}

const LACKS = (...missing: string[]) => ({ kind: "unsupported", missing });

for (const [name, own, fields, rest, expected] of [
  ["a target that translates is all that is tried", via([deaf(1), intoEnglish(2), textTarget(3)]), {}, {}, [2]],
  [
    "into a language it does not know, its transcript is translated",
    via([deaf(1), intoEnglish(2), textTarget(3)]),
    { to_language: "fr" },
    {},
    [[1, 2], [3]],
  ],
  [
    "several of each, in order",
    via([textTarget(1), deaf(2), textTarget(3), deaf(4)]),
    {},
    {},
    [
      [2, 4],
      [1, 3],
    ],
  ],
  [
    "an unavailable one of each is skipped",
    via([deaf(1), deaf(2), textTarget(3), textTarget(4)]),
    {},
    { resting: [1, 3] },
    [[2], [4]],
  ],
  [
    "an unavailable target that translates is waited for, not replaced",
    via([deaf(1), intoEnglish(2), textTarget(3)]),
    {},
    { resting: [2] },
    { kind: "unhealthy", capability: "audio_input", rests: [{ kind: "after_failures" }] },
  ],
  [
    "all transcribers are unavailable",
    via([deaf(1), textTarget(2)]),
    {},
    { resting: [1] },
    { kind: "unhealthy", capability: "audio_input", rests: [{ kind: "after_failures" }] },
  ],
  [
    "all chat targets are unavailable",
    via([deaf(1), textTarget(2)]),
    {},
    { resting: [2] },
    { kind: "unhealthy", capability: "chat", rests: [{ kind: "after_failures" }] },
  ],
  ["not allowed", route("r", [deaf(1), textTarget(2)]), {}, {}, LACKS("translation")],
  ["no chat target", via([deaf(1)]), {}, {}, LACKS("translation")],
  [
    "times, which the transcript would have",
    via([deaf(1), textTarget(2)]),
    { timestamps: "segment" },
    {},
    LACKS("timestamps.segment"),
  ],
  [
    "times come before availability: 422 before 503",
    via([deaf(1), textTarget(2)]),
    { timestamps: "segment" },
    { resting: [1, 2] },
    LACKS("timestamps.segment"),
  ],
  [
    "what no transcriber can do either is no matter of chat",
    via([deaf(1), textTarget(2)]),
    { diarization: true },
    {},
    LACKS("diarization", "translation"),
  ],
  [
    "a transcription that no target can do is not helped by chat",
    via([deaf(1), textTarget(2)]),
    { redaction: true },
    { task: "transcribe" },
    LACKS("redaction.pii"),
  ],
  ["a transcription is none of it", via([deaf(1), textTarget(2)]), {}, { task: "transcribe" }, [1]],
] as const) {
  test(`routing.translation-native, routing.translation-via-chat, routing.translation-via-chat-limits: ${name}`, () => {
    assert.deepEqual(positionsOf(decide(own, fields, rest)), expected);
  });
}

test("routing.profile-picks-targets, routing.translation-via-chat: response_profile picks among the chat targets too", () => {
  const own = via([deaf(1), { ...textTarget(2), profiles: ["fast"] }, { ...textTarget(3), profiles: ["deep"] }]);
  assert.deepEqual(positionsOf(decide(own, { response_profile: "deep" })), [[1], [3]]);
  const { decision } = decide(own, { response_profile: "balanced" });
  assert.deepEqual(
    decision.warnings.map(({ code }) => code),
    ["PROFILE_NOT_APPLIED"],
  );
});

test("routing.translation-native: a model that translates into any language is asked for any", () => {
  const polyglot = speechTarget(1, model({ translation: NATIVE }, { translatesInto: "any" }));
  assert.deepEqual(positionsOf(decide(route("r", [polyglot]), { to_language: "fr" })), [1]);
});

test("routing.translation-via-chat: the language of a recording is not detected if the request names it", () => {
  const { decision } = decide(via([deaf(1), textTarget(2)]), { language: "de" });
  assert.ok(decision.ok);
  assert.equal(decision.wanted.detectLanguage, false);
});

test("routing.translation-via-chat: the language of the recording is detected, unless the request names it", () => {
  const detecting = speechTarget(1, model({}, { defaultLanguage: "en", preferences: ["detect_language"] }));
  const languageOf = (fields: TranslationFields) => {
    const { decision } = decide(via([detecting, textTarget(2)]), fields);
    return decision.ok ? decision.candidates[0]?.verdict.language : null;
  };
  assert.deepEqual(languageOf({}), { kind: "detect" });
  assert.deepEqual(languageOf({ language: "de" }), { kind: "asked", tag: "de" });
});
