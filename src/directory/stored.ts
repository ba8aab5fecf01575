// The shapes kept as JSON in storage: parsed again when read, because another version may have written them.
import { z } from "zod";
import { FEATURES, PROFILES, REDACTION_GROUPS } from "../contract/features.ts";
import { PROVIDER_KINDS } from "../providers/provider.ts";

const settings = z.record(z.string(), z.unknown());
const flag = z.boolean().default(false);

const purpose = z.object({
  purpose: z.string(),
  description: z.string().default(""),
  route: z.string(),
  isEnabled: z.boolean().default(true),
  isPublished: z.boolean().default(true),
  defaults: settings.default({}),
});

export const storedRoute = z.object({
  targets: z.array(
    z.object({
      connection: z.string(),
      model: z.string(),
      profiles: z.array(z.enum(PROFILES)).default([]),
      settings: settings.default({}),
      profileSettings: z.partialRecord(z.enum(PROFILES), settings).default({}),
    }),
  ),
  purposes: z.array(purpose).default([]),
  profileOverrideAllowed: z.boolean().default(true),
  mayPayTwice: flag,
  acceptWeak: z.array(z.enum(FEATURES)).default([]),
});
export type StoredRoute = z.infer<typeof storedRoute>;

const modelDeclaration = z.object({
  capabilities: z.array(z.enum(["audio_input", "chat"])),
  features: z
    .object({
      timestamps: z.array(z.enum(["word", "segment"])).default([]),
      diarization: flag,
      redaction: z.array(z.enum(REDACTION_GROUPS)).default([]),
      keyterms: flag,
      multichannel: flag,
      profanityFilter: flag,
      translation: flag,
      language: flag,
      detectLanguage: flag,
      speakerCountHint: flag,
      smartFormatting: flag,
      prompt: flag,
    })
    .prefault({}),
  limits: z
    .object({
      maxBytes: z.number().nullable().default(null),
      maxSeconds: z.number().nullable().default(null),
      maxChannels: z.number().nullable().default(null),
      maxKeyterms: z.number().nullable().default(null),
      maxKeytermCharacters: z.number().nullable().default(null),
      formats: z.array(z.enum(["mp3", "mp4", "m4a", "mpeg", "wav", "webm"])).nullable().default(null),
    })
    .prefault({}),
  languages: z.union([z.literal("any"), z.array(z.string())]).nullable().default(null),
  defaultLanguage: z.string().nullable().default(null),
  dialect: settings.default({}),
});
export type StoredModel = z.infer<typeof modelDeclaration>;

export const storedConnection = z.object({
  timeoutSeconds: z.number().default(600),
  models: z.record(z.string(), modelDeclaration).default({}),
});

export const storedPrice = z.object({
  usdPerAudioHour: z.string().nullable().default(null),
  perChannel: flag,
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

/** Settings of an app, or of a key on top of its app's: null means inherited. */
export const storedSettings = z.object({
  route: z.string().nullable().default(null),
  audioInputOverride: z.string().nullable().default(null),
  defaultPurpose: z.string().nullable().default(null),
  audioPurposePolicy: z.enum(["fallback", "strict"]).nullable().default(null),
  purposes: z.array(purpose).default([]),
  quota,
});
export type StoredSettings = z.infer<typeof storedSettings>;
