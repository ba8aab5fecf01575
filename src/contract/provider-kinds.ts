// The kinds of a connection: the wire protocols of the supported providers, and which of them need a credential or an address.

export const PROVIDER_KINDS = [
  "openai",
  "openai-compatible",
  "deepgram",
  "assemblyai",
  "elevenlabs",
  "google-speech",
  "anthropic",
  "gemini",
  "local",
  "sandbox",
] as const;
export type ProviderKind = (typeof PROVIDER_KINDS)[number];

export function isKind(kind: string): kind is ProviderKind {
  return PROVIDER_KINDS.some((name) => name === kind);
}

/** A self-hosted server may require none. */
export function needsCredential(kind: ProviderKind): boolean {
  return kind !== "openai-compatible" && kind !== "local" && kind !== "sandbox";
}

/** For the other kinds the address is known. */
export function needsAddress(kind: ProviderKind): boolean {
  return kind === "openai-compatible";
}
