// Returns what validation needs to know of the providers' adapters: models that need no declaration, and the settings that a target may have.
import { z } from "zod";
import type { Capability } from "../contract/features.ts";
import { ownProperty } from "../lib/json/own-property.ts";
import type { ModelLife, NotOffered } from "../providers/model-life.ts";
import type { ProviderKind } from "../providers/provider.ts";
import { chatProviders, providers } from "../providers/registry.ts";

/** Null: the catalogue does not contain the model, so it must be declared under its connection. */
export function knownCapabilities(kind: ProviderKind, model: string): readonly Capability[] | null {
  const isSpeech = Object.hasOwn(speechModels(kind), model);
  const isChat = Object.hasOwn(chatModels(kind), model);
  if (!isSpeech && !isChat) return null;
  return [...(isSpeech ? (["audio_input"] as const) : []), ...(isChat ? (["chat"] as const) : [])];
}

/** What the catalogue knows of a model's life, the same for speech and chat. Undefined: nothing. */
export function knownLife(kind: ProviderKind, model: string): ModelLife | undefined {
  return (
    ownProperty(providers.get(kind)?.models ?? {}, model)?.life ??
    ownProperty(chatProviders.get(kind)?.models ?? {}, model)?.life
  );
}

/** Null: it is not one of the models that are known and not offered. */
export function knownNotOffered(kind: ProviderKind, model: string): NotOffered | null {
  return ownProperty(providers.get(kind)?.notOffered ?? {}, model)?.notOffered ?? null;
}

/** Candidates for "did you mean". */
export function knownModelNames(kind: ProviderKind): readonly string[] {
  return [...Object.keys(speechModels(kind)), ...Object.keys(chatModels(kind))];
}

export function hasSpeechAdapter(kind: ProviderKind): boolean {
  return providers.has(kind);
}

/** The fault of a credential as far as its format shows. Null: none, or unknown. */
export function credentialFault(kind: ProviderKind, credential: string): string | null {
  if (credential === "") return null;
  // A key file may contain line breaks. Any other credential is sent in a header unchanged.
  if (!credential.trimStart().startsWith("{") && !/^[\x20-\x7e]+$/u.test(credential))
    return "must be plain ASCII in one line: it is sent in a header";
  return providers.get(kind)?.credentialFault?.(credential) ?? null;
}

export function hasChatAdapter(kind: ProviderKind): boolean {
  return chatProviders.has(kind);
}

/** The settings schema for a target with these capabilities. Undefined: no adapter, so its settings are unknown. */
export function settingsSchema(kind: ProviderKind, capabilities: readonly Capability[]): z.ZodType | undefined {
  const speech = capabilities.includes("audio_input") ? providers.get(kind)?.settings : undefined;
  const chat = capabilities.includes("chat") ? chatProviders.get(kind)?.settings : undefined;
  // A model with both capabilities accepts the settings of both.
  if (speech instanceof z.ZodObject && chat instanceof z.ZodObject)
    return z.strictObject({ ...speech.shape, ...chat.shape });
  return speech ?? chat;
}

function speechModels(kind: ProviderKind): Readonly<Record<string, unknown>> {
  return providers.get(kind)?.models ?? {};
}

function chatModels(kind: ProviderKind): Readonly<Record<string, unknown>> {
  return chatProviders.get(kind)?.models ?? {};
}
