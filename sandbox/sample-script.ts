// What is said in the bundled sample, with the times and speakers of its generator [providers.sandbox-sample]. No other recording has a script.
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { z } from "zod";
import { samplePath } from "../src/cli/package-root.ts";
import { BUNDLED_SAMPLE } from "../src/providers/local/demonstration.ts";
import type { SimulatedWord } from "./simulate.ts";

/** Header of a gateway that sends decoded samples: the SHA-256 of the recording that they come from. */
export const RECORDING_HEADER = "x-simulated-recording";

const script = z.object({
  words: z.array(z.object({ text: z.string(), start: z.number(), end: z.number(), speaker: z.int().min(0) })),
});

/** Null: the recording is not the sample. */
export async function readSampleScript(sha256: string): Promise<readonly SimulatedWord[] | null> {
  if (sha256 !== BUNDLED_SAMPLE.sha256) return null;
  const text = await readFile(join(dirname(samplePath()), "dialogue.json"), "utf8");
  return script.parse(JSON.parse(text)).words;
}
