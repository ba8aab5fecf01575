// Verifies an installed model: every file has the bytes and the SHA-256 of its record [local-models.verify], then the engine recognises something with it, where
// the caller passes a test.
import { differenceOf } from "./file-digest.ts";
import { type InstalledModel, modelPath } from "./installed-model.ts";

/** Runs the model on a known recording. Returns what is wrong, or null. */
export type TryModel = (model: InstalledModel) => Promise<string | null>;

export interface Verification {
  readonly name: string;
  readonly ok: boolean;
  readonly files: readonly { readonly path: string; readonly difference: string | null }[];
  /** Null: nothing is wrong, or it was not tried. */
  readonly trial: string | null;
}

export async function verifyModel(
  model: InstalledModel,
  { tryModel, signal }: { readonly tryModel?: TryModel; readonly signal?: AbortSignal } = {},
): Promise<Verification> {
  const files = [];
  for (const file of model.files)
    files.push({ path: file.path, difference: await differenceOf(modelPath(model, file.path), file, signal) });
  const isIntact = files.every(({ difference }) => difference === null);
  const trial = isIntact && tryModel !== undefined ? await tryModel(model) : null;
  return { name: model.name, ok: isIntact && trial === null, files, trial };
}
