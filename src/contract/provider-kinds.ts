// The wire protocols that a connection can speak (contract 10).

export const PROVIDER_KINDS = [
  "openai",
  "openai-compatible",
  "deepgram",
  "assemblyai",
  "elevenlabs",
  "google-speech",
  "anthropic",
  "gemini",
  "sandbox",
] as const;
export type ProviderKind = (typeof PROVIDER_KINDS)[number];
