// Checks the bundled demonstration model for `patchbay models verify`: its files, and that the engine recognises the bundled sample with it word for word, which
// shows that the engine works on this machine [local.tried].
import { readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { z } from "zod";
import { packageRoot, samplePath } from "../../cli/package-root.ts";
import { CliError } from "../../cli/terminal.ts";
import { createLogger } from "../../lib/logger.ts";
import type { InstalledModel } from "../../local-models/installed-model.ts";
import { type Verification, verifyModel } from "../../local-models/verify-model.ts";
import { demonstrationDirectory, readDemonstration } from "../../providers/local/demonstration.ts";
import { isEngineInstalled } from "../../providers/local/engine/engine-installed.ts";
import { decodeAgain, measureRecording } from "./decode-again.ts";

/** Null: the package is without it. */
export async function verifyBundled(
  signal: AbortSignal,
  directory = demonstrationDirectory(packageRoot()),
): Promise<Verification | null> {
  const model = await readDemonstration(directory);
  if (model === null) return null;
  const trial = isEngineInstalled() ? { tryModel: (each: InstalledModel) => trySample(each, signal) } : {};
  return verifyModel(model, { signal, ...trial });
}

async function trySample(model: InstalledModel, signal: AbortSignal): Promise<string | null> {
  const parts = {
    model,
    isByChannel: false,
    ffmpeg: null,
    directory: tmpdir(),
    threads: 1,
    logger: createLogger({ write: () => undefined }),
    signal,
  };
  try {
    const [heard] = await decodeAgain(await measureRecording(samplePath()), parts);
    const said = await sampleWords();
    return heard?.text === said ? null : `the bundled sample is recognised as ${JSON.stringify(heard?.text ?? "")}`;
  } catch (error) {
    if (error instanceof CliError) return error.message;
    throw error;
  }
}

const script = z.object({ words: z.array(z.object({ text: z.string() })) });

/** What is said in the sample, as the model writes it: in lower case, without punctuation. */
async function sampleWords(): Promise<string> {
  const text = await readFile(join(dirname(samplePath()), "dialogue.json"), "utf8");
  const { words } = script.parse(JSON.parse(text));
  return words.map((word) => word.text.toLowerCase().replaceAll(/[^\p{L}']/gu, "")).join(" ");
}
