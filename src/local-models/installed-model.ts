// A model whose files are on this machine.
import { join } from "node:path";
import type { ModelFile, ModelSpec } from "./model-spec.ts";

export interface InstalledModel {
  readonly name: string;
  /** Absolute path of its directory. */
  readonly dir: string;
  readonly files: readonly ModelFile[];
  readonly spec: ModelSpec;
}

/** Absolute path of one of the model's files, such as `engine.tokens`. */
export function modelPath({ dir }: Pick<InstalledModel, "dir">, file: string): string {
  return join(dir, file);
}
