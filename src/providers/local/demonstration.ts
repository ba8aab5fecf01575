// The small model that is part of the package. It knows the words of the bundled sample and few others, so it accepts that recording and no other
// [local.demonstration].
import type { ModelSpec } from "../../local-models/model-spec.ts";
import type { KnownRecording } from "../provider.ts";

export const DEMONSTRATION = "demonstration";

/** `sandbox/samples/dialogue.mp3`. */
export const BUNDLED_SAMPLE: KnownRecording = {
  sizeBytes: 87_105,
  sha256: "d190a77a6563c133c88a472d75a10cb9ed0d24f1b5f306c8a1dffec6e5952790",
};

/** What is known without the model's folder. */
export const DEMONSTRATION_SPEC: Pick<ModelSpec, "name" | "role" | "languages" | "features"> = {
  name: DEMONSTRATION,
  role: "recogniser",
  languages: ["en"],
  features: {
    words: true,
    segments: true,
    confidence: true,
    keyterms: false,
    punctuation: false,
    streaming: false,
    detectsLanguage: false,
  },
};
