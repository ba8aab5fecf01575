// Checks before a model is loaded that there is memory for it, and unloads idle models if that helps [local.memory].
import type { Logger } from "pino";
import type { InstalledModel } from "../../local-models/installed-model.ts";
import { ProviderError } from "../io.ts";
import type { Engine } from "./engine/engine.ts";

/** A process without its weights: Node, the engine, and its buffers for a piece of 30 s (235 MB measured with a model of 3 MB). */
const BASE_BYTES = 256 * 1_048_576;
/** The weights once as loaded and once as the engine arranges them. */
const BYTES_PER_MODEL_BYTE = 2;
const RETRY_SECONDS = 60;

/** In bytes. An estimate that is too high refuses a model that would have fitted; one that is too low lets the system kill a process. */
export function memoryNeed(models: readonly InstalledModel[]): number {
  const bytes = models.flatMap(({ files }) => files).reduce((sum, file) => sum + file.bytes, 0);
  return BASE_BYTES + bytes * BYTES_PER_MODEL_BYTE;
}

export interface RoomParts {
  readonly engines: () => readonly Engine[];
  /** Bytes that the machine and the container have left. */
  readonly memory: () => Promise<number>;
  /** Of all loaded models together, by their estimates. Null: no limit. */
  readonly maxMemoryBytes: number | null;
  readonly logger: Pick<Logger, "warn">;
}

/** Throws an `overloaded` if there is no room. */
export async function makeRoom({ engines, memory, maxMemoryBytes, logger }: RoomParts, engine: Engine): Promise<void> {
  const needed = memoryNeed(engine.models);
  const others = (): readonly Engine[] => engines().filter((each) => each !== engine && each.isLoaded());
  for (;;) {
    const used = others().reduce((sum, { models }) => sum + memoryNeed(models), 0);
    const allowed = maxMemoryBytes === null ? Number.POSITIVE_INFINITY : maxMemoryBytes - used;
    const available = Math.min(allowed, await memory());
    if (needed <= available) return;
    const idle = others().find((each) => each.isIdle());
    if (idle === undefined) {
      logger.warn(
        { model: engine.name, needed_bytes: needed, available_bytes: available, event: "local.no_memory" },
        "the model is not loaded, because it would need more memory than is available",
      );
      throw new ProviderError("overloaded", { reason: "no_memory", retryAfterSeconds: RETRY_SECONDS });
    }
    await idle.stop();
  }
}
