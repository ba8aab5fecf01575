// What the configuration may route to without declaring it, and which settings a target may carry: the providers' own words.
import { z } from "zod";
import type { Capability } from "../contract/features.ts";
import type { ProviderKind } from "../providers/provider.ts";
import { chatProviders, providers } from "../providers/registry.ts";

/** null: the catalogue does not have the model, so it must be declared under its connection. */
export function knownCapabilities(kind: ProviderKind, model: string): readonly Capability[] | null {
  const isSpeech = Object.hasOwn(speechModels(kind), model);
  const isChat = Object.hasOwn(chatModels(kind), model);
  if (!isSpeech && !isChat) return null;
  return [...(isSpeech ? (["audio_input"] as const) : []), ...(isChat ? (["chat"] as const) : [])];
}

/** For "did you mean". */
export function knownModelNames(kind: ProviderKind): readonly string[] {
  return [...Object.keys(speechModels(kind)), ...Object.keys(chatModels(kind))];
}

export function hasSpeechAdapter(kind: ProviderKind): boolean {
  return providers.has(kind);
}

/** What is wrong with a credential as far as its form shows; null: nothing, or nobody can tell. */
export function credentialFault(kind: ProviderKind, credential: string): string | null {
  if (credential === "") return null;
  // A key file's line ends stay inside it; all else goes into a header as it is.
  if (!credential.trimStart().startsWith("{") && !/^[\x20-\x7e]+$/u.test(credential))
    return "must be plain ASCII in one line: it is sent in a header";
  return providers.get(kind)?.credentialFault?.(credential) ?? null;
}

export function hasChatAdapter(kind: ProviderKind): boolean {
  return chatProviders.has(kind);
}

/** For a target of these capabilities. undefined: no adapter, so nothing is known of its settings. */
export function settingsSchema(kind: ProviderKind, capabilities: readonly Capability[]): z.ZodType | undefined {
  const speech = capabilities.includes("audio_input") ? providers.get(kind)?.settings : undefined;
  const chat = capabilities.includes("chat") ? chatProviders.get(kind)?.settings : undefined;
  // A model that does both takes the settings of both.
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
