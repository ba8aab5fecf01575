// What providers publish about the handling of data, by kind, as data [data-policy.facts]. Only a provider's own page or package counts; what could not be
// verified is not here, so that a requirement of it refuses the target.
import type { ProviderKind } from "../provider.ts";
import type { PolicyFact, PolicyUse } from "./policy-fact.ts";

export type VendorFact = PolicyFact & {
  /** Regions, or `default` for the provider's own address. Absent: all of its addresses. Never another address. */
  readonly hosts?: readonly string[];
  /** Absent: every use. */
  readonly uses?: readonly PolicyUse[];
};

const vendor = (source: string, verifiedOn: string | null) => ({ basis: "vendor", source, verifiedOn }) as const;

const DEEPGRAM = vendor("developers.deepgram.com/trust-security/your-data", null);
const DEEPGRAM_HOSTS = vendor("developers.deepgram.com changelog", "2026-06-17");
const ASSEMBLYAI = vendor("assemblyai.com/docs, data controls", null);
const ELEVENLABS_SDK = vendor("npm @elevenlabs/elevenlabs-js@2.73.0", "2026-10-15");
const OPENAI = vendor("developers.openai.com/api/docs/guides/your-data", null);
const OPENAI_REGIONS = vendor("developers.openai.com/api/docs/guides/data-residency", null);
const GOOGLE = vendor("docs.cloud.google.com/speech-to-text/docs/endpoints", "2025-10-19");

/** Opted out, Deepgram keeps the data only while it processes it, and processes it in the region of the host. */
const OPT_OUT = { mip_opt_out: true };

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
      ...vendor("assemblyai.com/docs/faq/how-long-are-outputs-retained", null),
    },
    { aspect: "retention", value: "deletable", uses: ["files"], ...vendor("npm assemblyai@4.41.5", "2026-09-26") },
    // The EU host of streams is not verified.
    { aspect: "regions", value: ["eu"], hosts: ["eu"], uses: ["files"], ...ASSEMBLYAI },
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
    // Regions that process in the region, not only store. Unverified for audio.
    ...(["us", "eu", "au", "in", "jp"] as const).map(
      (region): VendorFact => ({
        aspect: "regions",
        value: [region],
        hosts: [region],
        uses: ["chat"],
        ...OPENAI_REGIONS,
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
