// What a model on this machine can do, as a speech target: from its specification, and from what is installed here [local.features]. Pure.
import type { Lack, Preference } from "../../contract/features.ts";
import type { ModelSpec } from "../../local-models/model-spec.ts";
import { MASKED_BY_GATEWAY, SPLIT_BY_GATEWAY } from "../gateway-features.ts";
import type { CataloguedSpeechModel, FeatureSupport, SpeechModel } from "../provider.ts";
import { BUNDLED_SAMPLE, DEMONSTRATION, DEMONSTRATION_NOTICE } from "./demonstration.ts";
import { speakerModels } from "./engine/engine-config-of.ts";
import type { LocalState } from "./local-calls.ts";

export const ENGINE_COMMAND = "npm install sherpa-onnx-node@1.13.8";
/** The names in the manifest. */
const SPEAKERS_COMMAND = "patchbay models pull speaker-segmentation titanet-small";

const SHOWN: FeatureSupport = { support: "native", grade: "shown" };

/** When the data were compared with the engine's release. The weights themselves could not be had (docs/reference/local-models.md). */
const VERIFIED_ON = "2026-11-26";
const SOURCE = "https://github.com/k2-fsa/sherpa-onnx/releases/tag/asr-models, second-hand";

/** Diarization holds the whole recording in memory, 115 MB for each hour. */
const MAX_DIARIZED_SECONDS = 7_200;

/** Whether the model writes text. The others only help: they find speech or tell speakers apart. */
/** What is known of a model without its files. */
export type KnownSpec = Pick<ModelSpec, "name" | "role" | "languages" | "features">;

export function isRecogniser({ role }: Pick<ModelSpec, "role">): boolean {
  return role === "recogniser" || role === "streaming_recogniser";
}

/** As a complete installation would have it. */
export function localSpeechModel(
  spec: Pick<ModelSpec, "name" | "languages" | "features">,
  hasSpeakers: boolean,
): CataloguedSpeechModel {
  const { name, languages, features } = spec;
  const [only] = languages;
  const preferences: Preference[] = [];
  if (languages.length === 1) preferences.push("language");
  if (features.detectsLanguage) preferences.push("detect_language");
  if (hasSpeakers) preferences.push("speaker_count_hint");
  const isDemonstration = name === DEMONSTRATION;
  return {
    life: { verifiedOn: VERIFIED_ON, source: isDemonstration ? "this repository" : SOURCE },
    features: {
      ...(features.words ? { "timestamps.word": SHOWN } : {}),
      ...(features.segments ? { "timestamps.segment": SHOWN } : {}),
      ...(features.keyterms ? { keyterms: { support: "native", grade: "sent" } } : {}),
      ...(hasSpeakers && !isDemonstration ? { diarization: SHOWN } : {}),
      ...(isDemonstration ? {} : { multichannel: SPLIT_BY_GATEWAY }),
      streaming: SHOWN,
      profanity_filter: MASKED_BY_GATEWAY,
    },
    preferences,
    limits: {
      maxSecondsWith: { diarization: MAX_DIARIZED_SECONDS },
      // The engine separates terms by a slash and reads a number behind a colon as their weight.
      ...(features.keyterms ? { keyterms: { maxTerms: 500, forbiddenCharacters: ["/", ":"] } } : {}),
      ...(isDemonstration ? { recordings: [BUNDLED_SAMPLE] } : {}),
    },
    languages: languages.length === 0 ? "any" : languages,
    defaultLanguage: languages.length === 1 && only !== undefined ? only : "auto",
    samplesOnly: true,
    ...(isDemonstration ? { demonstrationNotice: DEMONSTRATION_NOTICE } : {}),
    ...(isDemonstration ? {} : { live: ["pcm_s16le"] }),
    // The speakers of a stream are unknown until its end.
    excludes: [["streaming", "diarization"]],
    hints: hasSpeakers || isDemonstration ? {} : { diarization: `run \`${SPEAKERS_COMMAND}\`` },
  };
}

/**
 * The models of this machine. Those that the manifest knows and that are not installed lack `model_not_installed`, and all of them lack `engine_not_installed`
 * without the engine.
 */
export function localSpeechModels(
  manifest: readonly KnownSpec[],
  { models, isEngineInstalled }: LocalState,
): Readonly<Record<string, SpeechModel>> {
  const hasSpeakers = speakerModels(models) !== null;
  const specs = new Map<string, KnownSpec>(manifest.map((spec) => [spec.name, spec]));
  for (const { name, spec } of models) specs.set(name, spec);
  const installedNames = new Set(models.map(({ name }) => name));
  return Object.fromEntries(
    [...specs.values()].filter(isRecogniser).map((spec) => {
      const model = localSpeechModel(spec, hasSpeakers);
      const isInstalled = installedNames.has(spec.name);
      const unusable: Lack | null = !isEngineInstalled
        ? "engine_not_installed"
        : isInstalled
          ? null
          : "model_not_installed";
      if (unusable === null) return [spec.name, model];
      const command = isEngineInstalled ? `patchbay models pull ${spec.name}` : ENGINE_COMMAND;
      return [spec.name, { ...model, unusable, hints: { ...model.hints, [unusable]: `run \`${command}\`` } }];
    }),
  );
}
