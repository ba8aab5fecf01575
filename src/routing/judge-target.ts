// Judges whether one model meets every requirement of a request, from static data alone [routing.required-never-dropped]. Pure.
import type { AudioFormat } from "../contract/transcription/audio-formats.ts";
import type { Feature, Lack } from "../contract/features.ts";
import { primarySubtag } from "../lib/text/primary-subtag.ts";
import type {
  FeatureSupport,
  LanguageInForce,
  LiveEncoding,
  SpeechLimits,
  SpeechModel,
} from "../providers/provider.ts";
import { type Cut, type CutVerdict, judgeChannelSplit, judgeCut } from "./judge-cut.ts";
import type { Requirements } from "./required-features.ts";
import type { Route } from "./types.ts";

/** The facts about the audio that are known before a provider is called. */
export interface AudioFacts {
  readonly format: AudioFormat;
  readonly sizeBytes: number;
  readonly durationSeconds: number;
  readonly channels: number;
  /** Live audio: sent while it is spoken, in this encoding, with unknown size and length. */
  readonly live?: LiveEncoding;
  /** The sample rate to which this gateway can decode it. Null or absent: it cannot. */
  readonly pcmRate?: number | null;
  /** See `SpeechAudio.sha256`. */
  readonly sha256?: string;
}

/** Which weaker behaviour a route accepts from its targets. */
type Concessions = Pick<Route, "acceptWeak" | "splitLongAudio">;

export interface Verdict {
  /** Empty: the target is eligible. */
  readonly missing: readonly Lack[];
  readonly language: LanguageInForce;
  /** Features that the model meets only by weak emulation, which the route accepts. */
  readonly emulated: readonly Feature[];
  /** How the audio must be cut for this target. Null: it is sent whole. */
  readonly cut: Cut | null;
}

export function judgeTarget(
  model: SpeechModel,
  wanted: Requirements,
  audio: AudioFacts | null,
  { acceptWeak, splitLongAudio }: Concessions,
): Verdict {
  const language = languageInForce(model, wanted);
  // What else it lacks would mislead: no request reaches it.
  if (model.notOffered !== undefined) return { missing: ["not_offered"], language, emulated: [], cut: null };
  const missing: Lack[] = [];
  const emulated: Feature[] = [];
  for (const feature of wanted.features) {
    const support = model.features[feature];
    // The gateway's own emulation needs the whole transcript, so it cannot be streamed.
    const isTooLate = support?.byGateway === true && wanted.features.includes("streaming");
    if (support === undefined || isTooLate || !languageConditionMet(support, language, wanted)) missing.push(feature);
    else if (support.support === "weak") {
      if (acceptWeak.includes(feature)) emulated.push(feature);
      else missing.push(feature);
    }
  }
  for (const [first, second] of model.excludes ?? []) {
    if (wanted.features.includes(first) && wanted.features.includes(second) && !missing.includes(second))
      missing.push(second);
  }
  if (model.unusable !== undefined) missing.push(model.unusable);
  if (model.streamsOnly === true && !wanted.features.includes("streaming")) missing.push("batch");
  const audioMissing = audio === null ? [] : audioLacks(model, wanted, audio);
  const isTooMuch = audioMissing.includes("size") || audioMissing.includes("duration");
  const cut = judgeSplit(model, wanted, audio, { isTooMuch, splitLongAudio });
  const uncutMissing =
    cut?.ok === true ? audioMissing.filter((lack) => lack !== "size" && lack !== "duration") : audioMissing;
  const lost = cut?.ok === false ? cut.missing : [];
  missing.push(
    ...uncutMissing,
    ...lost.filter((lack) => ![...missing, ...uncutMissing].includes(lack)),
    ...limitLacks(model, wanted),
  );
  return { missing, language, emulated, cut: cut?.ok === true ? cut.cut : null };
}

/** Null: the recording is sent whole. */
function judgeSplit(
  model: SpeechModel,
  wanted: Requirements,
  audio: AudioFacts | null,
  { isTooMuch, splitLongAudio }: { readonly isTooMuch: boolean; readonly splitLongAudio: boolean },
): CutVerdict | null {
  const most = maxSeconds(model.limits, wanted);
  const isByChannel = wanted.features.includes("multichannel") && model.features.multichannel?.byGateway === true;
  if (isByChannel && audio !== null && audio.channels > 1)
    return judgeChannelSplit(model, most, wanted, audio, splitLongAudio);
  return isTooMuch && splitLongAudio ? judgeCut(model, most, wanted, audio) : null;
}

/** The requested language; else unknown if it is detected; else the model's documented default [routing.language-in-force]. */
function languageInForce(model: SpeechModel, wanted: Requirements): LanguageInForce {
  if (wanted.language !== null) return { kind: "asked", tag: wanted.language };
  if (wanted.detectLanguage && model.preferences.includes("detect_language")) return { kind: "detect" };
  return model.defaultLanguage === "auto" ? { kind: "auto" } : { kind: "default", tag: model.defaultLanguage };
}

/** An unknown language meets no condition. Nor does a default language that replaces a detection which the model does not support. */
function languageConditionMet(support: FeatureSupport, language: LanguageInForce, wanted: Requirements): boolean {
  if (support.languages === undefined) return true;
  if (language.kind === "asked") return support.languages.includes(primarySubtag(language.tag));
  return (
    language.kind === "default" && !wanted.detectLanguage && support.languages.includes(primarySubtag(language.tag))
  );
}

function limitLacks(model: SpeechModel, wanted: Requirements): readonly Lack[] {
  const lacks: Lack[] = [];
  if (
    wanted.language !== null &&
    model.languages !== "any" &&
    !model.languages.includes(primarySubtag(wanted.language))
  )
    lacks.push("language");
  if (
    wanted.toLanguage !== null &&
    model.features.translation !== undefined &&
    !translatesInto(model, wanted.toLanguage)
  )
    lacks.push("to_language");
  if (wanted.keyterms.length > 0 && model.features.keyterms !== undefined && exceedsKeyterms(model, wanted.keyterms))
    lacks.push("keyterms_limit");
  return lacks;
}

function audioLacks(model: SpeechModel, wanted: Requirements, audio: AudioFacts): readonly Lack[] {
  if (audio.live !== undefined) return model.live?.includes(audio.live) === true ? [] : ["live_audio"];
  const { limits } = model;
  const lacks: Lack[] = [];
  if (model.samplesOnly === true && (audio.pcmRate ?? null) === null) lacks.push("decoder");
  if (
    limits.recordings?.some((known) => known.sizeBytes === audio.sizeBytes && known.sha256 === audio.sha256) === false
  )
    lacks.push("recording");
  if (limits.formats !== undefined && !limits.formats.includes(audio.format)) lacks.push("format");
  if (limits.maxBytes !== undefined && audio.sizeBytes > limits.maxBytes) lacks.push("size");
  if (audio.durationSeconds > maxSeconds(limits, wanted)) lacks.push("duration");
  if (wanted.features.includes("multichannel") && audio.channels > (limits.maxChannels ?? Number.POSITIVE_INFINITY))
    lacks.push("channels");
  return lacks;
}

function maxSeconds({ maxSeconds: always, maxSecondsWith }: SpeechLimits, wanted: Requirements): number {
  const conditional = wanted.features.map((feature) => maxSecondsWith?.[feature] ?? Number.POSITIVE_INFINITY);
  return Math.min(always ?? Number.POSITIVE_INFINITY, ...conditional);
}

function translatesInto(model: SpeechModel, language: string): boolean {
  const covered = model.translatesInto ?? ["en"];
  return covered === "any" || covered.includes(primarySubtag(language));
}

function exceedsKeyterms(model: SpeechModel, keyterms: readonly string[]): boolean {
  const limit = model.limits.keyterms;
  if (limit === undefined) return false;
  return (
    keyterms.length > (limit.maxTerms ?? Number.POSITIVE_INFINITY) ||
    keyterms.some((term) => term.length > (limit.maxTermCharacters ?? Number.POSITIVE_INFINITY)) ||
    keyterms.some((term) => wordCount(term) > (limit.maxTermWords ?? Number.POSITIVE_INFINITY)) ||
    keyterms.some((term) => limit.forbiddenCharacters?.some((character) => term.includes(character)) === true) ||
    estimatedTokens(keyterms) > (limit.maxTotalTokens ?? Number.POSITIVE_INFINITY)
  );
}

function wordCount(term: string): number {
  return term.trim().split(/\s+/u).length;
}

/**
 * Providers count tokens in their own way. Two bytes a token overestimates, even for scripts with one or two tokens a character, so that a request which passes
 * here fits there.
 */
function estimatedTokens(keyterms: readonly string[]): number {
  return keyterms.reduce((sum, term) => sum + Math.max(1, Math.ceil(Buffer.byteLength(term) / 2)), 0);
}
