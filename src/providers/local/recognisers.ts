// Recognition on this machine: one child process per loaded model, started on first use, restarted after a crash and stopped when idle [local.process]. Each
// runs one operation at a time, with a queue that is bounded in seconds of audio [local.queue].
import type { Logger } from "pino";
import { createKeyedSemaphore, type KeyedSemaphore } from "../../lib/concurrency/keyed-semaphore.ts";
import type { InstalledModel } from "../../local-models/installed-model.ts";
import { ProviderError } from "../io.ts";
import { abortOf } from "./abort-of.ts";
import { availableMemory } from "./available-memory.ts";
import { type Admission, type Capacity, createCapacity } from "./capacity.ts";
import { createFileCheck } from "./check-files.ts";
import { engineConfigOf, speakerModels, speakersConfigOf } from "./engine-config-of.ts";
import type { EngineConfig } from "./engine-config.ts";
import type { EngineResult, EngineValue, SpeakerTurn } from "./engine-protocol.ts";
import { type CallTerms, EngineFailure, type EngineProcess, startEngine } from "./engine-process.ts";
import type { LocalRequest, LocalSession, LocalState, Samples } from "./local-calls.ts";

export interface Recognisers {
  state(): Promise<LocalState>;
  open(request: LocalRequest, terms: SessionTerms): Promise<LocalSession>;
  report(): readonly EngineReportLine[];
  close(): Promise<void>;
}

export interface SessionTerms {
  readonly signal: AbortSignal;
  /** Waiters are served round-robin by owner. */
  readonly owner: string;
  /** Waits for room in the queue instead of failing. */
  readonly waits: boolean;
  /** Called when the first samples are sent to the engine. */
  readonly onDispatch?: (() => void) | undefined;
}

export interface RecogniserOptions {
  readonly installed: () => Promise<readonly InstalledModel[]>;
  readonly isEngineInstalled: () => boolean;
  readonly threads: number;
  readonly idleMs: number;
  readonly maxQueueSeconds: number;
  /** Estimated memory of all loaded models together. Null: only what the machine has left counts. */
  readonly maxMemoryBytes: number | null;
  readonly logger: Pick<Logger, "info" | "warn" | "error">;
  /** The longest time without a heartbeat. */
  readonly silenceMs?: number;
  readonly start?: () => EngineProcess;
  readonly memory?: () => Promise<number>;
}

/** One model, loaded or not. */
export interface EngineReportLine {
  readonly model: string;
  readonly pid: number | null;
  readonly residentBytes: number;
  /** An operation is running. */
  readonly isBusy: boolean;
  readonly queuedSeconds: number;
  /** Seconds of audio recognised in one second. */
  readonly speed: number | null;
}

interface Engine {
  readonly name: string;
  readonly models: readonly InstalledModel[];
  readonly config: EngineConfig;
  readonly capacity: Capacity;
  readonly turns: KeyedSemaphore;
  running: EngineProcess | null;
  /** The process that is loading the model. */
  starting: EngineProcess | null;
  loading: Promise<EngineProcess> | null;
  sessions: number;
  idle: NodeJS.Timeout | null;
}

/** After a hang-up the running operation has this long to end before its process is killed. */
export const ABORT_GRACE_MS = 150;
const SILENCE_MS = 10_000;
const LOAD_TERMS: CallTerms = { silenceMs: 120_000, limitMs: 300_000 };
/** A process without a model: Node, the engine and its buffers (93 MB measured with a model of 3 MB). */
const BASE_BYTES = 160 * 1_048_576;
/** The weights once as loaded and once as the engine arranges them. */
const BYTES_PER_MODEL_BYTE = 2;
const RETRY_WITHOUT_MEMORY_SECONDS = 60;

export function createRecognisers(options: RecogniserOptions): Recognisers {
  const { installed, threads, idleMs, logger, silenceMs = SILENCE_MS } = options;
  const { start = startEngine, memory = availableMemory } = options;
  const engines = new Map<string, Engine>();
  const files = createFileCheck();
  let isClosed = false;
  let lastStream = 0;

  function engineFor(name: string, models: readonly InstalledModel[], config: EngineConfig): Engine {
    const known = engines.get(name);
    // A model that was installed again has other files.
    if (known !== undefined && known.models.every((model, index) => isSame(model, models[index]))) return known;
    if (known !== undefined) void stop(known);
    const engine: Engine = {
      name,
      models,
      config,
      capacity: createCapacity(options.maxQueueSeconds),
      turns: createKeyedSemaphore({ total: 1, perKind: 1 }),
      running: null,
      starting: null,
      loading: null,
      sessions: 0,
      idle: null,
    };
    engines.set(name, engine);
    return engine;
  }

  /** Waits at most until the signal aborts. Loading itself goes on, because the next call needs it. */
  async function loaded(engine: Engine): Promise<EngineProcess> {
    if (engine.running?.isAlive() === true) return engine.running;
    engine.running = null;
    engine.loading ??= load(engine).finally(() => {
      engine.loading = null;
    });
    return engine.loading;
  }

  async function load(engine: Engine): Promise<EngineProcess> {
    if (isClosed) throw new ProviderError("aborted", { reason: "closing" });
    for (const model of engine.models) {
      const fault = await files.firstFault(model);
      if (fault === null) continue;
      logger.error(
        { model: model.name, file: fault, event: "local.file_changed" },
        `the file is not the one that was installed: patchbay models verify ${model.name}`,
      );
      throw new ProviderError("server_error", { reason: "model_file_changed" });
    }
    await requireMemory(engine);
    const startedMs = performance.now();
    const process = start();
    engine.starting = process;
    try {
      await process.call({ kind: "load", config: engine.config }, LOAD_TERMS);
    } catch (error) {
      await process.kill();
      throw failureOf(error, engine);
    } finally {
      engine.starting = null;
    }
    engine.running = process;
    const ms = Math.round(performance.now() - startedMs);
    logger.info({ model: engine.name, pid: process.pid, ms, threads, event: "local.loaded" });
    return process;
  }

  /** Stops idle models first, the one that has been idle longest first. */
  async function requireMemory(engine: Engine): Promise<void> {
    const needed = memoryNeed(engine.models);
    for (;;) {
      const used = [...engines.values()]
        .filter((each) => each !== engine && (each.running !== null || each.loading !== null))
        .reduce((sum, each) => sum + memoryNeed(each.models), 0);
      const allowed = options.maxMemoryBytes === null ? Number.POSITIVE_INFINITY : options.maxMemoryBytes - used;
      const available = Math.min(allowed, await memory());
      if (needed <= available) return;
      const idle = [...engines.values()].find((each) => each !== engine && each.sessions === 0 && each.running !== null);
      if (idle === undefined) {
        logger.warn(
          { model: engine.name, needed_bytes: needed, available_bytes: available, event: "local.no_memory" },
          "the model is not loaded, because it would need more memory than is available",
        );
        throw new ProviderError("overloaded", {
          reason: "no_memory",
          retryAfterSeconds: RETRY_WITHOUT_MEMORY_SECONDS,
        });
      }
      await stop(idle);
    }
  }

  async function stop(engine: Engine): Promise<void> {
    const { running } = engine;
    engine.running = null;
    if (engine.idle !== null) clearTimeout(engine.idle);
    engine.idle = null;
    await running?.kill();
  }

  /**
   * Runs one operation when it is this session's turn. If the process ends meanwhile, it is started again and the operation is repeated once
   * [local.crash-definite].
   */
  async function run<T>(
    engine: Engine,
    { signal, owner }: SessionTerms,
    work: (process: EngineProcess) => Promise<T>,
    mayRepeat = true,
  ): Promise<T> {
    try {
      return await engine.turns.run(engine.name, signal, () => attempt(engine, signal, work, mayRepeat), owner);
    } catch (error) {
      if (signal.aborted) throw abortOf(signal);
      throw error;
    }
  }

  async function attempt<T>(
    engine: Engine,
    signal: AbortSignal,
    work: (process: EngineProcess) => Promise<T>,
    mayRepeat: boolean,
  ): Promise<T> {
    for (let isRepeated = !mayRepeat; ; isRepeated = true) {
      const process = await unlessAborted(loaded(engine), signal);
      try {
        return await killedOnAbort(process, signal, work(process));
      } catch (error) {
        if (signal.aborted) throw abortOf(signal);
        const failure = failureOf(error, engine);
        if (!(error instanceof EngineFailure) || error.reason !== "gone" || isRepeated) throw failure;
      }
    }
  }

  const operationTerms = (audioSeconds: number): CallTerms => ({ silenceMs, limitMs: limitMsFor(audioSeconds) });

  function failureOf(error: unknown, engine: Engine): unknown {
    if (!(error instanceof EngineFailure)) return error;
    const { reason, detail } = error;
    logger.warn({ model: engine.name, reason, detail, event: "local.engine_failed" });
    return new ProviderError("server_error", { reason: reason === "gone" ? "engine_ended" : reason });
  }

  function enter(engine: Engine): void {
    engine.sessions++;
    if (engine.idle !== null) clearTimeout(engine.idle);
    engine.idle = null;
  }

  function leave(engine: Engine): void {
    engine.sessions--;
    if (engine.sessions > 0 || isClosed) return;
    engine.idle = setTimeout(() => {
      logger.info({ model: engine.name, event: "local.stopped_idle" });
      void stop(engine);
    }, idleMs);
    engine.idle.unref();
  }

  async function admit(engine: Engine, seconds: number, { signal, waits }: SessionTerms): Promise<Admission> {
    const { capacity } = engine;
    const admission = capacity.admit(seconds);
    if (admission !== null) return admission;
    if (waits) {
      try {
        return await capacity.wait(seconds, signal);
      } catch {
        throw abortOf(signal);
      }
    }
    throw new ProviderError("overloaded", { reason: "queue_full", retryAfterSeconds: capacity.retryAfterSeconds() });
  }

  async function open(request: LocalRequest, terms: SessionTerms): Promise<LocalSession> {
    if (isClosed) throw new ProviderError("aborted", { reason: "closing" });
    if (!options.isEngineInstalled()) throw new ProviderError("not_found", { reason: "engine_not_installed" });
    const models = await installed();
    const model = models.find(({ name }) => name === request.model);
    const config = model === undefined ? null : engineConfigOf(model, threads);
    if (model === undefined || config === null) throw new ProviderError("not_found", { reason: "model_not_installed" });
    const engine = engineFor(model.name, [model], config);
    const admission = await admit(engine, request.audioSeconds, terms);
    enter(engine);
    let isReleased = false;
    let hasDispatched = false;
    let dropStream: (() => void) | null = null;
    const dispatch = (): void => {
      if (hasDispatched) return;
      hasDispatched = true;
      terms.onDispatch?.();
    };

    async function decode(piece: Samples, keyterms: readonly string[]): Promise<EngineResult> {
      const seconds = piece.samples.length / piece.sampleRate;
      if (request.audioSeconds === 0) admission.add(seconds);
      const value = await run(engine, terms, async (process) => {
        dispatch();
        const startedMs = performance.now();
        const order = { kind: "decode", samples: piece.samples, sampleRate: piece.sampleRate, keyterms } as const;
        const answer = await process.call(order, operationTerms(seconds));
        engine.capacity.measured(seconds, performance.now() - startedMs);
        return answer;
      });
      admission.done(seconds);
      const [result] = resultsOf(value);
      if (result === undefined) throw new ProviderError("bad_reply", { reason: "no_result" });
      return result;
    }

    return {
      model,
      signal: terms.signal,
      decode,
      listen: async () => {
        const stream = ++lastStream;
        let process: EngineProcess | null = null;
        await run(engine, terms, async (current) => {
          process = current;
          await current.call({ kind: "open", stream }, operationTerms(1));
          dropStream = () => {
            if (current.isAlive()) void current.tell({ kind: "drop", stream });
          };
        });
        // The state of a stream is in its process, so that nothing can be repeated.
        const tell = (order: ListenOrder, seconds: number) =>
          run(
            engine,
            terms,
            async (current) => {
              if (current !== process) throw new EngineFailure("gone", "the stream's process has ended");
              dispatch();
              const startedMs = performance.now();
              const value = await current.call(order, operationTerms(seconds));
              if (seconds > 0) engine.capacity.measured(seconds, performance.now() - startedMs);
              return resultsOf(value);
            },
            false,
          );
        return {
          hear: ({ samples, sampleRate }) =>
            tell({ kind: "feed", stream, samples, sampleRate }, samples.length / sampleRate),
          finish: () => tell({ kind: "finish", stream }, 0),
        };
      },
      diarize: (samples, speakers) => diarize(models, samples, speakers, terms),
      release: () => {
        if (isReleased) return;
        isReleased = true;
        dropStream?.();
        admission.release();
        leave(engine);
      },
    };
  }

  async function diarize(
    models: readonly InstalledModel[],
    samples: () => AsyncIterable<Samples>,
    speakers: number | null,
    terms: SessionTerms,
  ): Promise<readonly SpeakerTurn[]> {
    const pair = speakerModels(models);
    const config = speakersConfigOf(models, threads);
    if (pair === null || config === null) throw new ProviderError("not_found", { reason: "model_not_installed" });
    const engine = engineFor(SPEAKERS, pair, config);
    enter(engine);
    try {
      return await run(engine, terms, async (process) => {
        let seconds = 0;
        try {
          for await (const part of samples()) {
            seconds += part.samples.length / part.sampleRate;
            await process.tell({ kind: "part", samples: part.samples });
          }
          const value = await process.call({ kind: "diarize", speakers }, blockingTerms(seconds));
          if (value.kind !== "diarized") throw new ProviderError("bad_reply", { reason: "no_result" });
          return value.turns;
        } catch (error) {
          // Parts that were sent must not be taken for the next recording.
          await process.kill();
          throw error;
        }
      });
    } finally {
      leave(engine);
    }
  }

  return {
    state: async () => ({ isEngineInstalled: options.isEngineInstalled(), models: await installed() }),
    open,
    report: () =>
      [...engines.values()].map(({ name, running, capacity }) => ({
        model: name,
        pid: running?.pid ?? null,
        residentBytes: running?.residentBytes() ?? 0,
        isBusy: running?.isBusy() === true,
        queuedSeconds: capacity.admittedSeconds(),
        speed: capacity.speed(),
      })),
    close: async () => {
      isClosed = true;
      await Promise.all(
        [...engines.values()].map(async (engine) => {
          await engine.starting?.kill();
          await engine.loading?.catch(() => undefined);
          await stop(engine);
        }),
      );
    },
  };
}

type ListenOrder =
  | { readonly kind: "feed"; readonly stream: number; readonly samples: Int16Array; readonly sampleRate: number }
  | { readonly kind: "finish"; readonly stream: number };

/** The name of the engine that has both speaker models. No model can have it. */
const SPEAKERS = "(speakers)";

/** Ten times slower than speech and more is of no use to anyone. */
const limitMsFor = (audioSeconds: number): number => 30_000 + audioSeconds * 10_000;

/** An operation that blocks the child's event loop, so that it sends no heartbeat. */
function blockingTerms(audioSeconds: number): CallTerms {
  const limitMs = limitMsFor(audioSeconds);
  return { silenceMs: limitMs, limitMs };
}

function resultsOf(value: EngineValue): readonly EngineResult[] {
  return value.kind === "recognised" ? value.results : [];
}

function isSame(one: InstalledModel, other: InstalledModel | undefined): boolean {
  return (
    other !== undefined &&
    one.dir === other.dir &&
    one.files.every(({ path, sha256 }, index) => other.files[index]?.path === path && other.files[index].sha256 === sha256)
  );
}

/** In bytes. An estimate that is too high refuses a model that would have fitted; one that is too low lets the system kill a process. */
export function memoryNeed(models: readonly InstalledModel[]): number {
  const bytes = models.flatMap(({ files }) => files).reduce((sum, file) => sum + file.bytes, 0);
  return BASE_BYTES + bytes * BYTES_PER_MODEL_BYTE;
}

async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  const aborted = Promise.withResolvers<never>();
  const onAbort = (): void => aborted.reject(signal.reason);
  signal.addEventListener("abort", onAbort, { once: true });
  // The loser of the race must not count as unhandled.
  work.catch(() => undefined);
  try {
    return await Promise.race([work, aborted.promise]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

/** An operation cannot be interrupted: its process is killed if it does not end soon [local.hang-up]. */
async function killedOnAbort<T>(process: EngineProcess, signal: AbortSignal, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | null = null;
  const onAbort = (): void => {
    timer = setTimeout(() => void process.kill(), ABORT_GRACE_MS);
  };
  if (signal.aborted) onAbort();
  else signal.addEventListener("abort", onAbort, { once: true });
  try {
    return await work;
  } finally {
    signal.removeEventListener("abort", onAbort);
    if (timer !== null) clearTimeout(timer);
  }
}
