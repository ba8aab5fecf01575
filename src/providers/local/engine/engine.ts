// One model on this machine: its process, which is started by the first operation and stopped when idle, and its queue. One operation runs at a time
// [local.process].
import type { Logger } from "pino";
import { createKeyedSemaphore } from "../../../lib/concurrency/keyed-semaphore.ts";
import type { InstalledModel } from "../../../local-models/installed-model.ts";
import { ProviderError } from "../../io.ts";
import { abortOf } from "../abort-of.ts";
import { type Capacity, createCapacity } from "../capacity.ts";
import type { FileCheck } from "../check-files.ts";
import type { EngineConfig } from "./engine-config.ts";
import { type CallTerms, EngineFailure, type EngineProcess } from "./engine-process.ts";
import { createOccupancy } from "./occupancy.ts";
import { killedOnAbort, unlessAborted } from "../until-aborted.ts";

export interface EngineSpec {
  readonly name: string;
  readonly models: readonly InstalledModel[];
  readonly config: EngineConfig;
}

export interface EngineParts {
  readonly idleMs: number;
  readonly maxQueueSeconds: number;
  readonly logger: Pick<Logger, "info" | "warn" | "error">;
  readonly start: () => EngineProcess;
  readonly files: FileCheck;
  /** Loads one model after the other: what a load needs shows in the available memory only when it has ended. */
  readonly exclusively: <T>(load: () => Promise<T>) => Promise<T>;
  /** Throws if the model would need more memory than is available. */
  readonly makeRoom: (engine: Engine) => Promise<void>;
}

export interface OperationTerms {
  readonly signal: AbortSignal;
  /** Waiters are served round-robin by owner. */
  readonly owner: string;
  /** Whether the operation may be repeated after its process ended. */
  readonly mayRepeat?: boolean;
}

export interface Engine extends EngineSpec {
  readonly capacity: Capacity;
  /**
   * Runs one operation when it is its owner's turn. If the process ends during it, it is started again and the operation is repeated once
   * [local.crash-definite].
   */
  run<T>(terms: OperationTerms, work: (process: EngineProcess) => Promise<T>): Promise<T>;
  /** Between `enter` and `leave` the model is not unloaded, except by `close`. */
  enter(): void;
  leave(): void;
  isLoaded(): boolean;
  isIdle(): boolean;
  /** Null: no process. */
  running(): EngineProcess | null;
  /** Unloads the model. The next operation loads it again. */
  stop(): Promise<void>;
  /** Closes when the last session has left, and resolves then. */
  retire(): Promise<void>;
  close(): Promise<void>;
}

const LOAD_TERMS: CallTerms = { silenceMs: 120_000, limitMs: 300_000 };

export function createEngine(spec: EngineSpec, parts: EngineParts): Engine {
  const { name } = spec;
  const { logger } = parts;
  const turns = createKeyedSemaphore({ total: 1, perKind: 1 });
  let current: EngineProcess | null = null;
  let starting: EngineProcess | null = null;
  let loading: Promise<EngineProcess> | null = null;
  let isClosed = false;

  const running = (): EngineProcess | null => (current?.isAlive() === true ? current : null);

  async function load(): Promise<EngineProcess> {
    if (isClosed) throw new ProviderError("aborted", { reason: "closing" });
    await requireFiles(spec, parts);
    return parts.exclusively(async () => {
      if (isClosed) throw new ProviderError("aborted", { reason: "closing" });
      await parts.makeRoom(engine);
      starting = parts.start();
      try {
        current = await loadInto(starting, spec, parts);
        return current;
      } finally {
        starting = null;
      }
    });
  }

  /** One load serves all who wait for it. It continues if they leave, because the next call needs it. */
  async function loaded(): Promise<EngineProcess> {
    const process = running();
    if (process !== null) return process;
    loading ??= load().finally(() => {
      loading = null;
    });
    return loading;
  }

  async function attempt<T>(
    signal: AbortSignal,
    mayRepeat: boolean,
    work: (process: EngineProcess) => Promise<T>,
  ): Promise<T> {
    for (let isRepeated = !mayRepeat; ; isRepeated = true) {
      const process = await unlessAborted(loaded(), signal);
      try {
        return await killedOnAbort(process, signal, work(process));
      } catch (error) {
        if (signal.aborted) throw abortOf(signal);
        const failure = failureOf(error, spec, parts);
        if (!(error instanceof EngineFailure) || error.reason !== "gone" || isRepeated) throw failure;
      }
    }
  }

  async function stop(): Promise<void> {
    occupancy.stopTimer();
    const process = current;
    current = null;
    await process?.kill();
  }

  async function close(): Promise<void> {
    isClosed = true;
    await starting?.kill();
    await loading?.catch(() => undefined);
    await stop();
  }

  const occupancy = createOccupancy({
    idleMs: parts.idleMs,
    onIdle: () => {
      logger.info({ model: name, event: "local.stopped_idle" });
      void stop();
    },
    close,
    isClosed: () => isClosed,
  });

  const engine: Engine = {
    ...spec,
    capacity: createCapacity(parts.maxQueueSeconds),
    run: async ({ signal, owner, mayRepeat = true }, work) => {
      try {
        return await turns.run(name, signal, () => attempt(signal, mayRepeat, work), owner);
      } catch (error) {
        if (signal.aborted) throw abortOf(signal);
        throw error;
      }
    },
    enter: () => occupancy.enter(),
    leave: () => occupancy.leave(),
    isLoaded: () => running() !== null,
    isIdle: () => occupancy.isEmpty() && loading === null && running() !== null,
    running,
    stop,
    retire: () => occupancy.retire(),
    close,
  };
  return engine;
}

async function requireFiles({ models }: EngineSpec, { files, logger }: EngineParts): Promise<void> {
  for (const model of models) {
    const fault = await files.firstFault(model);
    if (fault === null) continue;
    logger.error(
      { model: model.name, file: fault, event: "local.file_changed" },
      `the file is not the one that was installed: patchbay models verify ${model.name}`,
    );
    throw new ProviderError("server_error", { reason: "model_file_changed" });
  }
}

async function loadInto(process: EngineProcess, spec: EngineSpec, parts: EngineParts): Promise<EngineProcess> {
  const { name, config } = spec;
  const startedMs = performance.now();
  try {
    await process.call({ kind: "load", config }, LOAD_TERMS);
  } catch (error) {
    await process.kill();
    throw failureOf(error, spec, parts);
  }
  const ms = Math.round(performance.now() - startedMs);
  parts.logger.info({ model: name, pid: process.pid, ms, threads: config.threads, event: "local.loaded" });
  return process;
}

/** Other errors than the engine's are returned unchanged. */
function failureOf(error: unknown, { name }: EngineSpec, { logger }: EngineParts): unknown {
  if (!(error instanceof EngineFailure)) return error;
  const { reason, detail } = error;
  logger.warn({ model: name, reason, detail, event: "local.engine_failed" });
  return new ProviderError("server_error", { reason: reason === "gone" ? "engine_ended" : reason });
}
