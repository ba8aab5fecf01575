// When providers end their models, or answer the name by another one, by the sandbox's clock. Each protocol has its own error for a model that has ended.

/** The time of a sandbox without a clock: no model has ended. */
export const BEFORE_ANY_RETIREMENT = Number.NEGATIVE_INFINITY;

/** The first day without the model, in UTC. Snapshots have dates of their own (npm openai 7.57.0 and @anthropic-ai/sdk 1.14.0). */
const ENDS = {
  openai: {
    "gpt-4.1-nano": "2026-10-23",
    "gpt-4.1-nano-2025-04-14": "2026-10-23",
    "gpt-4o-2024-05-13": "2026-10-23",
    "gpt-5": "2026-12-11",
    "gpt-5-2025-08-07": "2026-12-11",
    "gpt-5-mini": "2026-12-11",
    "gpt-5-mini-2025-08-07": "2026-12-11",
    "gpt-5-nano": "2026-12-11",
    "gpt-5-nano-2025-08-07": "2026-12-11",
    "gpt-4o": "2027-01-14",
    "gpt-4o-2024-08-06": "2027-01-14",
    "gpt-4o-2024-11-20": "2027-01-14",
    "gpt-4o-mini": "2027-01-14",
    "gpt-4o-mini-2024-07-18": "2027-01-14",
    "gpt-4.1": "2027-01-14",
    "gpt-4.1-2025-04-14": "2027-01-14",
    "gpt-4.1-mini": "2027-01-14",
    "gpt-4.1-mini-2025-04-14": "2027-01-14",
    "gpt-5.1": "2027-04-01",
    "gpt-5.1-2025-11-13": "2027-04-01",
    "gpt-5.4-nano": "2027-04-01",
    "gpt-5.4-nano-2026-03-17": "2027-04-01",
    // "Announced shutdown date: 2027-02-26" (npm openai 7.57.0, audio.ts).
    "whisper-1": "2027-02-26",
    "gpt-4o-transcribe": "2027-02-26",
    "gpt-4o-mini-transcribe": "2027-02-26",
    "gpt-4o-mini-transcribe-2025-12-15": "2027-02-26",
    "gpt-4o-transcribe-diarize": "2027-02-26",
  },
  // assemblyai.com/changelog, 2026-09-02.
  assemblyai: { "universal-3-pro": "2026-09-02" },
  // elevenlabs.io/docs/changelog/2026/6/8.
  elevenlabs: { scribe_v1: "2026-07-09" },
  // docs.mistral.ai, list of models.
  mistral: { "voxtral-mini-2507": "2026-05-31" },
  anthropic: {
    "claude-sonnet-4-5": "2026-11-30",
    "claude-sonnet-4-5-20250929": "2026-11-30",
    "claude-opus-4-5": "2027-01-22",
    "claude-opus-4-5-20251101": "2027-01-22",
  },
  /** Second-hand: github.com/codedaily04/commit-craft/issues/1. */
  groq: { "llama-3.3-70b-versatile": "2026-08-16" },
} as const satisfies Readonly<Record<string, Readonly<Record<string, string>>>>;

type Kind = keyof typeof ENDS;

/** Null: no end is announced. */
export function retirementDate(kind: Kind, model: string): string | null {
  return new Map<string, string>(Object.entries(ENDS[kind])).get(model) ?? null;
}

export function isRetired(kind: Kind, model: string, nowMs: number): boolean {
  const date = retirementDate(kind, model);
  return date !== null && nowMs >= Date.parse(date);
}

/** Gemini refuses no old name here: another model answers under it. */
const REDIRECTS: ReadonlyMap<string, { readonly date: string; readonly model: string }> = new Map([
  ["gemini-3.5-flash", { date: "2026-10-08", model: "gemini-3.6-flash" }],
  ["gemini-3.7-flash", { date: "2026-10-08", model: "gemini-3.8-flash" }],
  ["gemini-2.5-pro", { date: "2026-12-01", model: "gemini-3.8-flash" }],
  ["gemini-2.5-flash", { date: "2026-12-01", model: "gemini-3.5-flash-lite" }],
]);

export function answeringModel(model: string, nowMs: number): string {
  const redirect = REDIRECTS.get(model);
  return redirect !== undefined && nowMs >= Date.parse(redirect.date) ? redirect.model : model;
}
