// Regional addresses of providers, as data [data-policy.regional-hosts]. `region` of a connection selects one of them.
import { ownProperty } from "../../lib/json/own-property.ts";
import type { ProviderKind } from "../provider.ts";

export interface RegionalHost {
  readonly baseUrl: string;
  /** Settings that every target on this address needs, unless it sets them itself. */
  readonly settings?: Readonly<Record<string, unknown>>;
  readonly source: string;
  readonly verifiedOn: string | null;
}

const DEEPGRAM = { source: "developers.deepgram.com changelog", verifiedOn: "2026-06-17" };
const ELEVENLABS = { source: "npm @elevenlabs/elevenlabs-js@2.73.0", verifiedOn: "2026-10-15" };
const OPENAI = { source: "npm openai@7.57.0, data-residency.ts", verifiedOn: "2026-11-13" };
const GOOGLE = { source: "docs.cloud.google.com/speech-to-text/docs/endpoints", verifiedOn: "2025-10-19" };

const HOSTS: { readonly [K in ProviderKind]?: Readonly<Record<string, RegionalHost>> } = {
  assemblyai: {
    eu: {
      baseUrl: "https://api.eu.assemblyai.com",
      source: "assemblyai.com/docs/pre-recorded-audio/select-the-region (undated, read 2026-11-27)",
      verifiedOn: null,
    },
  },
  deepgram: {
    eu: { baseUrl: "https://api.eu.deepgram.com", ...DEEPGRAM },
    au: { baseUrl: "https://api.au.deepgram.com", ...DEEPGRAM },
    in: { baseUrl: "https://api.in.deepgram.com", ...DEEPGRAM },
  },
  elevenlabs: {
    us: { baseUrl: "https://api.us.elevenlabs.io", ...ELEVENLABS },
    eu: { baseUrl: "https://api.eu.residency.elevenlabs.io", ...ELEVENLABS },
    in: { baseUrl: "https://api.in.residency.elevenlabs.io", ...ELEVENLABS },
    sg: { baseUrl: "https://api.sg.residency.elevenlabs.io", ...ELEVENLABS },
  },
  "google-speech": {
    us: { baseUrl: "https://us-speech.googleapis.com", settings: { location: "us" }, ...GOOGLE },
    eu: { baseUrl: "https://eu-speech.googleapis.com", settings: { location: "eu" }, ...GOOGLE },
  },
  openai: {
    us: { baseUrl: "https://us.api.openai.com/v1", ...OPENAI },
    eu: { baseUrl: "https://eu.api.openai.com/v1", ...OPENAI },
    ae: { baseUrl: "https://ae.api.openai.com/v1", ...OPENAI },
    au: { baseUrl: "https://au.api.openai.com/v1", ...OPENAI },
    in: { baseUrl: "https://in.api.openai.com/v1", ...OPENAI },
    jp: { baseUrl: "https://jp.api.openai.com/v1", ...OPENAI },
  },
};

export function regionsOf(kind: ProviderKind): readonly string[] {
  return Object.keys(HOSTS[kind] ?? {});
}

export function regionalHost(kind: ProviderKind, region: string): RegionalHost | undefined {
  return ownProperty(HOSTS[kind] ?? {}, region);
}

/** The host of an account: a region, `default` for the provider's own address, or null for any other address. */
export function hostOf(kind: ProviderKind, baseUrl: string | null, defaultBaseUrl: string | null): string | null {
  const address = baseUrl ?? defaultBaseUrl;
  if (address === null) return null;
  const { origin } = new URL(address);
  const region = regionsOf(kind).find((each) => {
    const host = regionalHost(kind, each);
    return host !== undefined && new URL(host.baseUrl).origin === origin;
  });
  if (region !== undefined) return region;
  return defaultBaseUrl !== null && new URL(defaultBaseUrl).origin === origin ? "default" : null;
}
