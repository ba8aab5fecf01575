// The small model that is part of the package. It knows the words of the bundled sample and few others, so it accepts that recording and no other
// [local.demonstration].
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { DEFAULT_MODEL, downloadBytes, MANIFEST } from "../../local-models/manifest.ts";
import { megabytes } from "../../local-models/megabytes.ts";
import type { InstalledModel } from "../../local-models/installed-model.ts";
import type { ModelSpec } from "../../local-models/model-spec.ts";
import type { KnownRecording } from "../provider.ts";

export const DEMONSTRATION = "demonstration-en";

/** Lines of `models/demonstration/words.txt`. */
export const DEMONSTRATION_WORDS = 137;

/** The one command that gives real text of any recording. */
export const PULL_OFFER = `\`patchbay models pull ${DEFAULT_MODEL}\`, ${defaultSize()}`;

export const BY_DEMONSTRATION = `on this machine by the bundled demonstration model, which knows ${DEMONSTRATION_WORDS} words`;

/** Said with each of its answers. */
export const DEMONSTRATION_NOTICE = `Recognised ${BY_DEMONSTRATION}. For your own recordings: ${PULL_OFFER}`;

/** In the package. */
export function demonstrationDirectory(packageRoot: string): string {
  return join(packageRoot, "models", "demonstration");
}

function defaultSize(): string {
  const spec = MANIFEST.find(({ name }) => name === DEFAULT_MODEL);
  return spec === undefined ? "" : megabytes(downloadBytes(spec));
}

/** `sandbox/samples/dialogue.mp3`. */
export const BUNDLED_SAMPLE: KnownRecording = {
  sizeBytes: 87_105,
  sha256: "d190a77a6563c133c88a472d75a10cb9ed0d24f1b5f306c8a1dffec6e5952790",
};

/** Its files are in the package. */
export const DEMONSTRATION_SPEC: Omit<ModelSpec, "files"> = {
  name: DEMONSTRATION,
  title: "Demonstration, English: recognises the bundled sample",
  role: "recogniser",
  engine: { kind: "zipformer_ctc", model: "model.onnx", tokens: "tokens.txt" },
  languages: ["en"],
  features: {
    words: true,
    segments: true,
    confidence: false,
    keyterms: false,
    punctuation: false,
    streaming: false,
    detectsLanguage: false,
  },
  sampleRate: 16_000,
  licence: { id: "Apache-2.0", url: "https://www.apache.org/licenses/LICENSE-2.0", attribution: "Patchbay" },
  source: null,
  publishedQuality: null,
  verified: true,
};

const bundledManifest = z.object({
  files: z.array(z.object({ path: z.string(), bytes: z.int().min(0), sha256: z.string() })).min(1),
});

/** `directory`: that of the model in the package. Null: it is not there. */
export async function readDemonstration(directory: string): Promise<InstalledModel | null> {
  const text = await readFile(join(directory, "manifest.json"), "utf8").catch(() => null);
  if (text === null) return null;
  const { files } = bundledManifest.parse(JSON.parse(text));
  return { name: DEMONSTRATION, dir: directory, files, spec: { ...DEMONSTRATION_SPEC, files } };
}
