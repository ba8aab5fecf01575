// Which models the providers refuse, and from which day on [providers.sandbox-retired]. The vendors' own dates, written down a second time: the gateway's
// catalogue is not read here, so that a test can compare the two.

type Provider = "assemblyai" | "elevenlabs" | "groq" | "mistral" | "openai";

const FIRST_DAY_REFUSED: Readonly<Record<Provider, Readonly<Record<string, string>>>> = {
  // assemblyai.com/changelog, 2026-09-02.
  assemblyai: { "universal-3-pro": "2026-09-02" },
  // elevenlabs.io/docs/changelog/2026/6/8.
  elevenlabs: { scribe_v1: "2026-07-09" },
  groq: {},
  // docs.mistral.ai, model lifecycle.
  mistral: { "voxtral-mini-2507": "2026-05-31" },
  // npm openai@7.57.0, audio.ts: "Announced shutdown date: 2027-02-26".
  openai: {
    "whisper-1": "2027-02-26",
    "gpt-4o-transcribe": "2027-02-26",
    "gpt-4o-mini-transcribe": "2027-02-26",
    "gpt-4o-mini-transcribe-2025-12-15": "2027-02-26",
    "gpt-4o-transcribe-diarize": "2027-02-26",
  },
};

/** Null: no end is announced. */
export function firstDayRefused(provider: Provider, model: string): string | null {
  return FIRST_DAY_REFUSED[provider][model] ?? null;
}

export function isRetired(provider: Provider, model: string, nowMs: number): boolean {
  const firstDay = firstDayRefused(provider, model);
  return firstDay !== null && nowMs >= Date.parse(`${firstDay}T00:00:00Z`);
}
