// The request to one target, and the preferences that it will not honour [routing.preference-dropped]. Pure.
import type { ChatDropped, Feature, Preference } from "../../contract/features.ts";
import type { Warning } from "../../contract/transcription.ts";
import type { SpeechRequest } from "../../providers/provider.ts";
import type { Candidate } from "../../routing/pick-candidates.ts";
import type { Requirements } from "../../routing/required-features.ts";

export function speechRequest(candidate: Candidate, wanted: Requirements): SpeechRequest {
  const asks = (feature: Feature) =>
    wanted.features.includes(feature) && candidate.target.speech?.features[feature]?.byGateway !== true;
  const takes = (preference: Preference) => candidate.target.speech?.preferences.includes(preference) === true;
  return {
    task: wanted.task,
    toLanguage: wanted.toLanguage,
    language: candidate.verdict.language,
    diarization: wanted.features.includes("diarization"),
    words: wanted.features.includes("timestamps.word"),
    // Speakers and channels come in segments or in words; only who asks for segment times requires the model to have them.
    segments:
      wanted.features.includes("timestamps.segment") ||
      (wanted.wantsSegments && candidate.target.speech?.features["timestamps.segment"] !== undefined),
    keyterms: wanted.keyterms,
    redaction: wanted.redaction,
    multichannel: asks("multichannel"),
    stream: wanted.features.includes("streaming"),
    profanityFilter: asks("profanity_filter"),
    speakerCountHint: takes("speaker_count_hint") ? wanted.speakerCountHint : null,
    smartFormatting: takes("smart_formatting") ? wanted.smartFormatting : null,
    prompt: takes("prompt") ? wanted.prompt : null,
  };
}

/** Preferences asked that this target cannot honour, those its plan dropped included. */
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
      // Asked for one language, the model is told that one: there is nothing left to detect.
      (preference === "detect_language" && wanted.language !== null),
  );
  return dropped.map(preferenceDropped);
}

export function preferenceDropped(preference: Preference | ChatDropped): Warning {
  return {
    code: "PREFERENCE_DROPPED",
    message: `The model that served this request does not take ${preference}; it was left out.`,
    param: preference,
    details: null,
  };
}

export function emulatedFeatures(candidate: Candidate): readonly Warning[] {
  return candidate.verdict.emulated.map((feature) => ({
    code: "FEATURE_EMULATED",
    message: `${feature} was emulated in a weaker way, as the route allows.`,
    param: feature,
    details: null,
  }));
}
