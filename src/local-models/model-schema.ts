// Validates a model's specification and the record of its installation, which are read from files.
import { z } from "zod";
import { isPlainPath } from "./plain-path.ts";
import { MODEL_ROLES, type ModelFile, type ModelSpec } from "./model-spec.ts";

const path = z.string().max(200).refine(isPlainPath, "must be a relative path without `..`");
const sha256 = z.string().regex(/^[0-9a-f]{64}$/u);
const bytes = z.int().min(0);
const transducer = { encoder: path, decoder: path, joiner: path, tokens: path };

const engine = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("zipformer_ctc"), model: path, tokens: path }),
  z.object({ kind: z.literal("nemo_ctc"), model: path, tokens: path }),
  z.object({ kind: z.literal("nemo_transducer"), ...transducer }),
  z.object({ kind: z.literal("moonshine"), encoder: path, mergedDecoder: path, tokens: path }),
  z.object({ kind: z.literal("online_transducer"), ...transducer }),
  z.object({ kind: z.literal("silero_vad"), model: path }),
  z.object({ kind: z.literal("pyannote_segmentation"), model: path }),
  z.object({ kind: z.literal("speaker_embedding"), model: path }),
]);

const modelFile = z.object({ path, bytes, sha256 });

/** A name is a directory's name as well. */
export const modelName = z.string().regex(/^[a-z0-9][a-z0-9.-]{0,62}$/u);

export const modelSpec: z.ZodType<ModelSpec> = z.object({
  name: modelName,
  title: z.string(),
  role: z.enum(MODEL_ROLES),
  engine,
  languages: z.array(z.string()),
  features: z.object({
    words: z.boolean(),
    segments: z.boolean(),
    confidence: z.boolean(),
    keyterms: z.boolean(),
    punctuation: z.boolean(),
    streaming: z.boolean(),
    detectsLanguage: z.boolean(),
  }),
  sampleRate: z.int().min(1),
  licence: z.object({ id: z.string(), url: z.string(), attribution: z.string() }),
  files: z.array(modelFile).min(1),
  source: z
    .discriminatedUnion("kind", [
      z.object({ kind: z.literal("archive"), url: z.string(), bytes, sha256, folder: path }),
      z.object({ kind: z.literal("files"), base: z.string() }),
    ])
    .nullable(),
  publishedQuality: z.string().nullable(),
  verified: z.boolean(),
});

/** `installed.json` of an installed model. */
export interface InstallationRecord {
  readonly format: 1;
  readonly spec: ModelSpec;
  readonly files: readonly ModelFile[];
  /** A pull from the manifest's source, or an import from a path. */
  readonly origin: { readonly kind: "pull" } | { readonly kind: "import"; readonly from: string };
  /** RFC 3339 time. */
  readonly installed_at: string;
  readonly licence: { readonly id: string; readonly url: string; readonly accepted_at: string };
}

export const installationRecord: z.ZodType<InstallationRecord> = z.object({
  format: z.literal(1),
  spec: modelSpec,
  files: z.array(modelFile).min(1),
  origin: z.discriminatedUnion("kind", [
    z.object({ kind: z.literal("pull") }),
    z.object({ kind: z.literal("import"), from: z.string() }),
  ]),
  installed_at: z.string(),
  licence: z.object({ id: z.string(), url: z.string(), accepted_at: z.string() }),
});
