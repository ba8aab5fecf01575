// What the configuration may route to without declaring it, and which settings a target may carry: the providers' own words.
import type { z } from "zod";
import type { Capability } from "../contract/features.ts";
import { CHAT_MODELS } from "../providers/catalog.ts";
import type { ProviderKind } from "../providers/provider.ts";
import { providers } from "../providers/registry.ts";

/** null: the catalogue does not have the model, so it must be declared under its connection. */
export function knownCapabilities(kind: string, model: string): readonly Capability[] | null {
  const isSpeech = Object.hasOwn(speechModels(kind), model);
  const isChat = Object.hasOwn(CHAT_MODELS[kind as ProviderKind] ?? {}, model);
  if (!isSpeech && !isChat) return null;
  return [...(isSpeech ? (["audio_input"] as const) : []), ...(isChat ? (["chat"] as const) : [])];
}

/** For "did you mean". */
export function knownModelNames(kind: string): readonly string[] {
  return [...Object.keys(speechModels(kind)), ...Object.keys(CHAT_MODELS[kind as ProviderKind] ?? {})];
}

export function hasSpeechAdapter(kind: string): boolean {
  return providers.has(kind as ProviderKind);
}

/** What is wrong with a credential as far as its form shows; null: nothing, or nobody can tell. */
export function credentialFault(kind: string, credential: string): string | null {
  if (credential === "") return null;
  return providers.get(kind as ProviderKind)?.credentialFault?.(credential) ?? null;
}

/** undefined: no adapter, so nothing is known of its settings. */
export function settingsSchema(kind: string): z.ZodType | undefined {
  return providers.get(kind as ProviderKind)?.settings;
}

function speechModels(kind: string): Readonly<Record<string, unknown>> {
  return providers.get(kind as ProviderKind)?.models ?? {};
}
