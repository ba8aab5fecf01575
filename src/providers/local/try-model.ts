// Loads an installed model into a process of its own and recognises a second of silence with it, for `patchbay models verify` [local.tried].
import type { InstalledModel } from "../../local-models/installed-model.ts";
import { engineConfigOf } from "./engine/engine-config-of.ts";
import { isEngineInstalled } from "./engine/engine-installed.ts";
import { EngineFailure, startEngine } from "./engine/engine-process.ts";

const TERMS = { silenceMs: 120_000, limitMs: 300_000 };
const RATE = 16_000;

/** Describes what is wrong. Null: nothing, or it cannot be tried: without the engine, and for models that only help others. */
export async function tryModel(model: InstalledModel): Promise<string | null> {
  const config = engineConfigOf(model, 1);
  if (config === null || !isEngineInstalled()) return null;
  const engine = startEngine();
  const silence = { samples: new Int16Array(RATE), sampleRate: RATE };
  try {
    await engine.call({ kind: "load", config }, TERMS);
    if (config.kind === "offline") {
      const piece = engine.send({ ...silence, keyterms: [] });
      await engine.call({ kind: "decode", piece }, TERMS);
    } else {
      await engine.call({ kind: "open", stream: 1 }, TERMS);
      await engine.call({ kind: "feed", stream: 1, ...silence }, TERMS);
    }
    return null;
  } catch (error) {
    if (!(error instanceof EngineFailure)) throw error;
    return `the engine cannot use it (${error.reason}): ${error.detail}`;
  } finally {
    await engine.kill();
  }
}
