// Builds the request to one target, and lists the preferences that it will not honour [routing.preference-dropped]. Pure.
import type { ChatDropped, Feature, Preference } from "../../contract/features.ts";
import type { Warning } from "../../contract/transcription/transcription-envelope.ts";
import type { SpeechRequest } from "../../providers/provider.ts";
import type { Candidate } from "../../routing/pick-candidates.ts";
import type { Requirements } from "../../routing/required-features.ts";

export function speechRequest(candidate: Candidate, wanted: Requirements): SpeechRequest {
  const isForTarget = (feature: Feature) =>
    wanted.features.includes(feature) && candidate.target.speech?.features[feature]?.byGateway !== true;
  const isSupported = (preference: Preference) => candidate.target.speech?.preferences.includes(preference) === true;
  return {
    task: wanted.task,
    toLanguage: wanted.toLanguage,
    language: candidate.verdict.language,
    diarization: wanted.features.includes("diarization"),
    words: wanted.features.includes("timestamps.word"),
    // Speakers and channels are in segments or in words. A model must support segment times only if the request asks for them.
    segments:
      wanted.features.includes("timestamps.segment") ||
      (wanted.wantsSegments && candidate.target.speech?.features["timestamps.segment"] !== undefined),
    keyterms: wanted.keyterms,
    redaction: wanted.redaction,
    multichannel: isForTarget("multichannel"),
    stream: wanted.features.includes("streaming"),
    profanityFilter: isForTarget("profanity_filter"),
    speakerCountHint: isSupported("speaker_count_hint") ? wanted.speakerCountHint : null,
    smartFormatting: isSupported("smart_formatting") ? wanted.smartFormatting : null,
    prompt: isSupported("prompt") ? wanted.prompt : null,
  };
}

/** The requested preferences that this target does not honour, including those that its plan dropped. */
export function droppedPreferences(
  candidate: Candidate,
  wanted: Requirements,
  droppedByPlan: readonly Preference[],
): readonly Warning[] {
  const { speech } = candidate.target;
  const dropped = wanted.preferences.filter(
    (preference) =>
      speech?.preferences.includes(preference) !== true ||
      droppedByPlan.includes(preference) ||
      // A model that is given a language does not detect it.
      (preference === "detect_language" && wanted.language !== null),
  );
  return dropped.map(preferenceDropped);
}

export function preferenceDropped(preference: Preference | ChatDropped): Warning {
  return {
    code: "PREFERENCE_DROPPED",
    message: `The model that served this request does not accept ${preference}; it was omitted.`,
    param: preference,
    details: null,
  };
}

export function emulatedFeatures(candidate: Candidate): readonly Warning[] {
  return candidate.verdict.emulated.map((feature) => ({
    code: "FEATURE_EMULATED",
    message: `${feature} was emulated with weaker guarantees, as the route allows.`,
    param: feature,
    details: null,
  }));
}
