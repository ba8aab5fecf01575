// The schemas of routes, connections and prices that are stored as JSON. They are parsed when read, because another version may have written them.
import { z } from "zod";
import type { Quota, RoutingSettings } from "../auth/principal.ts";
import { AUDIO_FORMATS } from "../contract/transcription/audio-formats.ts";
import { dataPolicyRequirement, dataPolicyStatement } from "../contract/settings/data-policy.ts";
import { CAPABILITIES, FEATURES, PROFILES, REDACTION_GROUPS } from "../contract/features.ts";
import { PROVIDER_KINDS } from "../providers/provider.ts";

const settings = z.record(z.string(), z.unknown());
const flag = z.boolean().default(false);

/** Strict: a requirement that this version does not know must not be dropped silently. */
const dataPolicy = dataPolicyRequirement.nullable().default(null);

const purpose = z.object({
  purpose: z.string(),
  description: z.string().default(""),
  route: z.string(),
  isEnabled: z.boolean().default(true),
  isPublished: z.boolean().default(true),
  defaults: settings.default({}),
  dataPolicy,
});

export const storedRoute = z.object({
  targets: z.array(
    z.object({
      connection: z.string(),
      model: z.string(),
      profiles: z.array(z.enum(PROFILES)).default([]),
      settings: settings.default({}),
      profileSettings: z.partialRecord(z.enum(PROFILES), settings).default({}),
      firstContentTimeoutSeconds: z.number().default(300),
    }),
  ),
  purposes: z.array(purpose).default([]),
  profileOverrideAllowed: z.boolean().default(true),
  mayPayTwice: flag,
  fallbackAfterUnknown: z.boolean().default(true),
  acceptWeak: z.array(z.enum(FEATURES)).default([]),
  translateViaChat: flag,
  splitLongAudio: flag,
  requireExactModel: flag,
  dataPolicy,
});
export type StoredRoute = z.infer<typeof storedRoute>;

/** Null: not declared, so the catalogue's value applies. */
const declared = <T extends z.ZodType>(schema: T) => schema.nullable().default(null);

const modelDeclaration = z.object({
  capabilities: z.array(z.enum(CAPABILITIES)),
  features: z
    .object({
      timestamps: declared(z.array(z.enum(["word", "segment"]))),
      diarization: declared(z.boolean()),
      redaction: declared(z.array(z.enum(REDACTION_GROUPS))),
      keyterms: declared(z.boolean()),
      multichannel: declared(z.boolean()),
      profanityFilter: declared(z.boolean()),
      streaming: declared(z.boolean()),
      translation: declared(z.boolean()),
      language: declared(z.boolean()),
      detectLanguage: declared(z.boolean()),
      speakerCountHint: declared(z.boolean()),
      smartFormatting: declared(z.boolean()),
      prompt: declared(z.boolean()),
      tools: declared(z.boolean()),
      toolChoice: declared(z.boolean()),
      parallelToolCalls: declared(z.boolean()),
      responseFormat: declared(z.array(z.enum(["json_object", "json_schema"]))),
      imageParts: declared(z.boolean()),
      audioParts: declared(z.boolean()),
    })
    .prefault({}),
  limits: z
    .object({
      maxOutputTokens: declared(z.number()),
      maxBytes: declared(z.number()),
      maxSeconds: declared(z.number()),
      maxChannels: declared(z.number()),
      maxKeyterms: declared(z.number()),
      maxKeytermCharacters: declared(z.number()),
      formats: declared(z.array(z.enum(AUDIO_FORMATS))),
    })
    .prefault({}),
  languages: declared(z.union([z.literal("any"), z.array(z.string())])),
  defaultLanguage: declared(z.string()),
  dialect: declared(z.string()),
});
export type StoredModel = z.infer<typeof modelDeclaration>;

export const storedConnection = z.object({
  timeoutSeconds: z.number().default(600),
  region: z.string().nullable().default(null),
  dataPolicy: dataPolicyStatement.nullable().default(null),
  models: z.record(z.string(), modelDeclaration).default({}),
});

export const storedPrice = z.object({
  usdPerAudioHour: z.string().nullable().default(null),
  usdPerMillionInputTokens: z.string().nullable().default(null),
  usdPerMillionOutputTokens: z.string().nullable().default(null),
  perChannel: flag,
  free: flag,
  source: z.string(),
  asOf: z.string(),
});

export const providerKind = z.enum(PROVIDER_KINDS);

const quota = z
  .object({
    requestsPerMinute: z.number().nullable().default(null),
    concurrent: z.number().nullable().default(null),
    audioSecondsPerHour: z.number().nullable().default(null),
    tokensPerMinute: z.number().nullable().default(null),
  })
  .prefault({});

/** Settings of an app, or of a key that overrides its app's. Null: inherited. */
export const storedSettings = z.object({
  route: z.string().nullable().default(null),
  audioInputOverride: z.string().nullable().default(null),
  defaultPurpose: z.string().nullable().default(null),
  audioPurposePolicy: z.enum(["fallback", "strict"]).nullable().default(null),
  purposes: z.array(purpose).default([]),
  dataPolicy,
  quota,
});

/** Parses stored settings into the form that a principal has. */
export function settingsOf(stored: unknown): { readonly quota: Quota; readonly routing: RoutingSettings } {
  const { quota: limits, ...routing } = storedSettings.parse(stored);
  return { quota: limits, routing };
}
