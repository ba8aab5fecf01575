// The requests of the radar: each requires the feature that it stands for, and none is missing.
import assert from "node:assert/strict";
import { test } from "node:test";
import { CHAT_FEATURES, FEATURES } from "../../src/contract/features.ts";
import {
  audioProbes,
  CHAT,
  chatProbes,
  LIVE_AUDIO,
  purposeProbe,
  TRANSCRIPTION,
} from "../../src/gateway/retirement/probes.ts";
import { askedChatFeatures } from "../../src/providers/chat/unmet-chat-features.ts";
import type { FeatureSupport } from "../../src/providers/provider.ts";
import { requiredFeatures } from "../../src/routing/required-features.ts";
import { model } from "../routing/routing-fixtures.ts";

const ENGLISH: FeatureSupport = { support: "native", grade: "shown", languages: ["en"] };

test("retirement.probes: there is one request for each feature of speech and chat, and it requires that feature alone", () => {
  const audio = audioProbes([model()]);
  assert.deepEqual(new Set(audio.map(({ feature }) => feature)), new Set([TRANSCRIPTION, ...FEATURES, LIVE_AUDIO]));
  for (const { feature, fields, task } of audio) {
    const expected = feature === TRANSCRIPTION ? [] : [feature === LIVE_AUDIO ? "streaming" : feature];
    assert.deepEqual(requiredFeatures(fields, task).features, expected, feature);
  }
  const chats = chatProbes();
  assert.deepEqual(
    chats.map(({ feature }) => feature),
    [CHAT, ...CHAT_FEATURES],
  );
  for (const { feature, request } of chats)
    if (feature !== CHAT)
      assert(
        askedChatFeatures(request).some((each) => each === feature),
        feature,
      );
});

test("retirement.probes, retirement.languages: languages that every model treats alike are one group", () => {
  const groups = audioProbes([
    model({ diarization: ENGLISH }, { languages: ["de", "en", "fr"] }),
    model({}, { languages: ["de", "fr"] }),
  ]).filter(({ feature }) => feature === "diarization");
  assert.deepEqual(
    groups.map(({ languages, fields }) => [languages, fields.language]),
    [
      [["und"], undefined],
      [["de", "fr"], "de"],
      [["en"], "en"],
      [["other"], "zxx"],
    ],
  );
});

test("retirement.purposes: the request of a purpose has its defaults and is named by what they require", () => {
  const probe = purposeProbe({ timestamps: "word", diarization: true, language: "de" });
  assert.deepEqual([probe.feature, probe.languages], ["diarization+timestamps.word", ["de"]]);
});
