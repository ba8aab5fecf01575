// Validates a `RecognitionConfig` of Google's speech API v2, per model and method [providers.sandbox-refusals].
import { z } from "zod";

const MODELS = new Set(["chirp_3", "chirp_2", "long", "short", "telephony"]);
export const modelsAt = (location: string): readonly string[] =>
  [...MODELS].filter((model) => location !== "global" || !model.startsWith("chirp"));
const DIARIZED = new Set("cmn de en es fr hi it ja ko pt".split(" "));
export const INLINE_SECONDS = 60;
export const INLINE_BYTES = 10_000_000;

export const SEPARATE = "SEPARATE_RECOGNITION_PER_CHANNEL";

const config = z.strictObject({
  autoDecodingConfig: z.strictObject({}),
  model: z.string(),
  languageCodes: z.array(z.string()).min(1),
  features: z
    .strictObject({
      profanityFilter: z.boolean().optional(),
      enableWordTimeOffsets: z.boolean().optional(),
      enableWordConfidence: z.boolean().optional(),
      enableAutomaticPunctuation: z.boolean().optional(),
      enableSpokenPunctuation: z.boolean().optional(),
      enableSpokenEmojis: z.boolean().optional(),
      // By name, or by number as the official client sends it.
      multiChannelMode: z
        .union([z.enum(["MULTI_CHANNEL_MODE_UNSPECIFIED", SEPARATE]), z.literal([0, 1])])
        .transform((mode) => (mode === 1 ? SEPARATE : mode))
        .optional(),
      diarizationConfig: z
        .strictObject({ minSpeakerCount: z.number().optional(), maxSpeakerCount: z.number().optional() })
        .optional(),
      maxAlternatives: z.int().min(0).max(30).optional(),
      customPromptConfig: z.strictObject({ customPrompt: z.string() }).optional(),
    })
    .default({}),
  adaptation: z
    .strictObject({
      phraseSets: z.array(
        z.strictObject({
          inlinePhraseSet: z.strictObject({
            phrases: z.array(z.strictObject({ value: z.string().min(1), boost: z.number().optional() })),
            annotations: z.record(z.string(), z.string()).optional(),
          }),
        }),
      ),
    })
    .optional(),
  translationConfig: z.strictObject({ targetLanguage: z.string() }).optional(),
});
export type GoogleConfig = z.infer<typeof config>;

export const recognition = z.strictObject({ config, content: z.string().optional(), uri: z.string().optional() });

export const batch = z.strictObject({
  config,
  files: z
    .array(z.strictObject({ uri: z.string() }))
    .min(1)
    .max(15),
  recognitionOutputConfig: z.strictObject({
    inlineResponseConfig: z.strictObject({}).optional(),
    gcsOutputConfig: z.strictObject({ uri: z.string() }).optional(),
  }),
});

/** The error message, or null. */
export function findWrongConfig(config: GoogleConfig, location: string, method: "recognize" | "batch"): string | null {
  const { model, features, languageCodes } = config;
  if (!MODELS.has(model)) return `Invalid model: ${model}.`;
  if (model.startsWith("chirp") && location === "global")
    return `The model "${model}" does not exist in the location named "global".`;
  return findWrongLanguage(languageCodes, model) ?? findWrongFeature(config, features, method);
}

function findWrongLanguage(codes: readonly string[], model: string): string | null {
  for (const code of codes) {
    if (code === "auto" && model.startsWith("chirp")) continue;
    if (!/^[a-z]{2,3}(-[A-Za-z0-9]{2,8})+$/u.test(code))
      return `The language "${code}" is not supported by the model "${model}".`;
  }
  return null;
}

function findWrongFeature(
  config: GoogleConfig,
  features: GoogleConfig["features"],
  method: "recognize" | "batch",
): string | null {
  const unsupported = (feature: string): string => `Recognizer does not support feature: ${feature}`;
  const isChirp3 = config.model === "chirp_3";
  if (features.diarizationConfig !== undefined && !isChirp3) return unsupported("speaker_diarization");
  if (features.diarizationConfig !== undefined) {
    const wrong = config.languageCodes.find((code) => code !== "auto" && !DIARIZED.has(code.split("-")[0] ?? ""));
    if (wrong !== undefined) return `Speaker diarization is not supported for language ${wrong}.`;
  }
  if (features.enableWordTimeOffsets === true && isChirp3 && method === "recognize")
    return unsupported("word_level_timestamps");
  if (features.enableWordConfidence === true && config.model.startsWith("chirp"))
    return unsupported("word_level_confidence");
  if (features.profanityFilter === true && isChirp3) return unsupported("profanity_filter");
  if (features.customPromptConfig !== undefined && !isChirp3) return unsupported("custom_prompt");
  return config.translationConfig !== undefined && config.model !== "chirp_2" ? unsupported("translation") : null;
}
