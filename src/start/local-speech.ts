// Which models on this machine a start without configured routes uses for speech [configuration.default-local], and what it prints about them.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { packageRoot } from "../cli/package-root.ts";
import { type LocalSpeech, NO_LOCAL_SPEECH } from "../config/default-configuration.ts";
import { DEFAULT_MODEL, MANIFEST } from "../local-models/manifest.ts";
import { RECORD_FILE } from "../local-models/model-store.ts";
import {
  BY_DEMONSTRATION,
  DEMONSTRATION,
  demonstrationDirectory,
  PULL_OFFER,
} from "../providers/local/demonstration.ts";
import { isEngineInstalled } from "../providers/local/engine/engine-installed.ts";
import { ENGINE_COMMAND, isRecogniser } from "../providers/local/local-models.ts";

export interface LocalSpeechFacts {
  readonly modelsDir: string;
  readonly hasEngine: boolean;
  readonly hasDemonstration: boolean;
}

export function readLocalSpeech(modelsDir: string): LocalSpeech {
  const hasDemonstration = existsSync(join(demonstrationDirectory(packageRoot()), "manifest.json"));
  return describeLocalSpeech({ modelsDir, hasEngine: isEngineInstalled(), hasDemonstration });
}

export function describeLocalSpeech({ modelsDir, hasEngine, hasDemonstration }: LocalSpeechFacts): LocalSpeech {
  if (!hasEngine) return { ...NO_LOCAL_SPEECH, note: `${NO_LOCAL_SPEECH.note} ${withoutEngine()}` };
  return {
    installed: installedRecognisers(modelsDir),
    standIns: [DEFAULT_MODEL, ...(hasDemonstration ? [DEMONSTRATION] : [])],
    note: hasDemonstration
      ? `The bundled sample is recognised ${BY_DEMONSTRATION}. The sandbox answers all other audio with simulated text. For your own recordings: ${PULL_OFFER}`
      : `${NO_LOCAL_SPEECH.note} For real text on this machine, without an account: ${PULL_OFFER}`,
  };
}

/** In the order in which a start routes to them. Looks at names only. */
export function installedRecognisers(modelsDir: string): readonly string[] {
  const names = MANIFEST.filter(isRecogniser).map(({ name }) => name);
  return inOrder(names).filter((name) => isInstalled(modelsDir, name));
}

/** What the start report says of a model of a connection to this machine. Null: nothing. */
export function localModelNote(modelsDir: string, model: string): string | null {
  if (model === DEMONSTRATION) return "bundled sample only";
  return isInstalled(modelsDir, model) ? null : "not installed";
}

function isInstalled(modelsDir: string, model: string): boolean {
  return existsSync(join(modelsDir, model, RECORD_FILE));
}

function withoutEngine(): string {
  return `For real text on this machine, without an account: ${ENGINE_COMMAND}, then ${PULL_OFFER}`;
}

/** The default first, the others as the manifest lists them. */
function inOrder(names: readonly string[]): readonly string[] {
  return [DEFAULT_MODEL, ...names.filter((name) => name !== DEFAULT_MODEL)];
}
