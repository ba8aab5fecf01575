// Describes models for people and programs: the same document for the command line and the admin API.
import type { LocalModelPull, LocalModelView } from "../contract/admin/local-models.ts";
import { DEFAULT_MODEL, downloadBytes, totalBytes } from "./manifest.ts";
import type { ModelFeatures, ModelSpec } from "./model-spec.ts";
import { readStored, storedNames, type StoredState } from "./model-store.ts";

const FEATURE_NAMES: Readonly<Record<keyof ModelFeatures, string>> = {
  words: "words",
  segments: "segments",
  confidence: "confidence",
  keyterms: "keyterms",
  punctuation: "punctuation",
  streaming: "streaming",
  detectsLanguage: "detects_language",
};

type PullStateOf = (name: string) => LocalModelPull | null;

/** The manifest's models in its order, then installed ones that it no longer has. */
export async function describeModels(
  dir: string,
  manifest: readonly ModelSpec[],
  pullOf: PullStateOf = () => null,
): Promise<readonly LocalModelView[]> {
  const known = await Promise.all(manifest.map((spec) => describeModel(spec, dir, pullOf)));
  const others = (await storedNames(dir)).filter((name) => manifest.every((spec) => spec.name !== name));
  const states = await Promise.all(others.map((name) => readStored(dir, name, manifest)));
  return [
    ...known,
    ...states.flatMap((state) => (state.kind === "installed" ? [viewOf(state.model.spec, state, null)] : [])),
  ];
}

export async function describeModel(
  spec: ModelSpec,
  dir: string,
  pullOf: PullStateOf = () => null,
): Promise<LocalModelView> {
  return viewOf(spec, await readStored(dir, spec.name, [spec]), pullOf(spec.name));
}

function viewOf(spec: ModelSpec, state: StoredState, pull: LocalModelPull | null): LocalModelView {
  const record = state.kind === "installed" ? state.model.record : null;
  return {
    object: "local_model",
    name: spec.name,
    title: spec.title,
    role: spec.role,
    state: state.kind === "absent" ? "available" : state.kind,
    damage: state.kind === "damaged" ? state.reason : null,
    default: spec.name === DEFAULT_MODEL,
    languages: [...spec.languages],
    features: featuresOf(spec.features),
    licence: { ...spec.licence },
    download_bytes: downloadBytes(spec),
    installed_bytes: totalBytes(spec.files),
    published_quality: spec.publishedQuality,
    // Nothing is installed that was not compared with the manifest.
    figures: spec.verified || record !== null ? "confirmed" : "second_hand",
    installed_at: record?.installed_at ?? null,
    licence_accepted_at: record?.licence.accepted_at ?? null,
    pull,
  };
}

function featuresOf(features: ModelFeatures): string[] {
  return Object.entries(FEATURE_NAMES).flatMap(([feature, name]) =>
    features[feature as keyof ModelFeatures] ? [name] : [],
  );
}
