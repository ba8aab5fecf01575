// What providers publish about the handling of data, by kind, as data [data-policy.facts]. Only a provider's own page or package counts; what could not be
// verified is not here, so that a requirement of it refuses the target.
import type { ProviderKind } from "../provider.ts";
import type { PolicyFact, PolicyUse } from "./policy-fact.ts";

export type VendorFact = PolicyFact & {
  /** Regions, or `default` for the provider's own address. Absent: all of its addresses. Never another address. */
  readonly hosts?: readonly string[];
  /** Absent: every use. */
  readonly uses?: readonly PolicyUse[];
  /** Absent: every model. */
  readonly models?: readonly string[];
};

const vendor = (source: string, verifiedOn: string | null) => ({ basis: "vendor", source, verifiedOn }) as const;
/** A page without a date: the day when a stored copy of it was read last. */
const undated = (source: string, readOn: string) => vendor(`${source} (undated, read ${readOn})`, null);

const DEEPGRAM = undated("developers.deepgram.com/trust-security/your-data", "2026-11-27");
const DEEPGRAM_HOSTS = vendor("developers.deepgram.com changelog", "2026-06-17");
const ASSEMBLYAI = undated("assemblyai.com/docs/data-retention-and-model-training", "2026-11-27");
const ASSEMBLYAI_REGION = undated("assemblyai.com/docs/pre-recorded-audio/select-the-region", "2026-11-27");
const ELEVENLABS_SDK = vendor("npm @elevenlabs/elevenlabs-js@2.73.0", "2026-10-15");
const OPENAI = undated("developers.openai.com/api/docs/guides/your-data", "2026-11-27");
const GOOGLE = vendor("docs.cloud.google.com/speech-to-text/docs/endpoints", "2025-10-19");

/** Opted out, Deepgram keeps the data only while it processes it, and processes it in the region of the host. */
const OPT_OUT = { mip_opt_out: true };

/**
 * Both the endpoint and the model have to support processing in the region: snapshots that the page's table lists for chat completions in us and eu, and the
 * names without a date that lead to them. It lists no gpt-6 model in the copy that was read.
 */
const OPENAI_REGIONAL_MODELS = Object.entries({
  "gpt-5.5": ["2026-04-23"],
  "gpt-5.4": ["2026-03-05"],
  "gpt-5.4-mini": ["2026-03-17"],
  "gpt-5.4-nano": ["2026-03-17"],
  "gpt-5.2": ["2025-12-11"],
  "gpt-5.1": ["2025-11-13"],
  "gpt-5": ["2025-08-07"],
  "gpt-5-mini": ["2025-08-07"],
  "gpt-5-nano": ["2025-08-07"],
  "gpt-4.1": ["2025-04-14"],
  "gpt-4.1-mini": ["2025-04-14"],
  "gpt-4.1-nano": ["2025-04-14"],
  "gpt-4o": ["2024-11-20", "2024-08-06"],
  "gpt-4o-mini": ["2024-07-18"],
}).flatMap(([name, days]) => [name, ...days.map((day) => `${name}-${day}`)]);

export const VENDOR_FACTS: Readonly<Record<ProviderKind, readonly VendorFact[]>> = {
  deepgram: [
    { aspect: "training", value: "opt_out_sent", forces: OPT_OUT, ...DEEPGRAM },
    { aspect: "retention", value: "none", forces: OPT_OUT, ...DEEPGRAM },
    ...(["eu", "au", "in"] as const).map(
      (region): VendorFact => ({
        aspect: "regions",
        value: [region],
        hosts: [region],
        forces: OPT_OUT,
        ...DEEPGRAM_HOSTS,
      }),
    ),
  ],
  assemblyai: [
    // Elsewhere it depends on a switch in the account's dashboard, which no request proves.
    { aspect: "training", value: "never", hosts: ["eu"], uses: ["files"], ...ASSEMBLYAI },
    { aspect: "training", value: "possible", hosts: ["default"], ...ASSEMBLYAI },
    {
      aspect: "retention",
      value: 30,
      uses: ["files"],
      // Two older pages of its FAQ say that transcripts are kept without a limit.
      ...undated("assemblyai.com/docs/faq/how-long-are-outputs-retained", "2026-11-27"),
    },
    { aspect: "retention", value: "deletable", uses: ["files"], ...vendor("npm assemblyai@4.41.5", "2026-09-26") },
    // The EU host of streams is not verified.
    { aspect: "regions", value: ["eu"], hosts: ["eu"], uses: ["files"], ...ASSEMBLYAI_REGION },
  ],
  elevenlabs: [
    { aspect: "retention", value: "deletable", uses: ["files"], ...ELEVENLABS_SDK },
    // `api.us.elevenlabs.io` is not documented as a residency host. The description of the live API lists the same hosts.
    ...(["eu", "in", "sg"] as const).map(
      (region): VendorFact => ({ aspect: "regions", value: [region], hosts: [region], ...ELEVENLABS_SDK }),
    ),
  ],
  openai: [
    { aspect: "training", value: "never", ...OPENAI },
    // Logs against abuse. Without `store: false` an account may keep completions for longer. Unverified for audio.
    { aspect: "retention", value: 30, uses: ["chat"], forces: { store: false }, ...OPENAI },
    // Elsewhere the data is stored in the region and may be processed outside, or the models are unverified (au, in, jp). Unverified for audio.
    ...(["us", "eu"] as const).map(
      (region): VendorFact => ({
        aspect: "regions",
        value: [region],
        hosts: [region],
        uses: ["chat"],
        models: OPENAI_REGIONAL_MODELS,
        ...OPENAI,
      }),
    ),
  ],
  "google-speech": (["us", "eu"] as const).map(
    (region): VendorFact => ({
      aspect: "regions",
      value: [region],
      hosts: [region],
      // The region of a bucket is the operator's choice and not known here. The default location is `us`.
      onlyWith: { location: region === "us" ? ["us", null] : [region], bucket: [null] },
      ...GOOGLE,
    }),
  ),
  // A free project's data is used for training, and no request shows whether a project is free.
  gemini: [],
  // Known at second hand only.
  anthropic: [],
  // Any server may be behind the address.
  "openai-compatible": [],
  sandbox: [],
  local: [],
};
