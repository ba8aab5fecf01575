// Recognition on this machine: the engines of all models that were used, each with a process of its own (`engine.ts`).
import type { Logger } from "pino";
import type { InstalledModel } from "../../local-models/installed-model.ts";
import { ProviderError } from "../io.ts";
import { availableMemory } from "./available-memory.ts";
import { createFileCheck } from "./check-files.ts";
import { DEMONSTRATION } from "./demonstration.ts";
import { engineConfigOf, speakerModels, speakersConfigOf } from "./engine/engine-config-of.ts";
import { type EngineProcess, startEngine } from "./engine/engine-process.ts";
import { readEngineRuntime } from "./engine/engine-runtime.ts";
import { createEngine, type Engine, type EngineParts, type EngineSpec } from "./engine/engine.ts";
import type { LocalRequest, LocalSession, LocalState } from "./local-calls.ts";
import { openLocalSession, type SessionTerms } from "./local-session.ts";
import { makeRoom } from "./make-room.ts";

export interface Recognisers {
  readonly state: () => Promise<LocalState>;
  readonly open: (request: LocalRequest, terms: SessionTerms) => Promise<LocalSession>;
  readonly report: () => readonly EngineReportLine[];
  readonly close: () => Promise<void>;
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

/** One model that was used. */
export interface EngineReportLine {
  readonly model: string;
  readonly pid: number | null;
  readonly residentBytes: number;
  /** An operation is running. */
  readonly isBusy: boolean;
  readonly queuedSeconds: number;
  /** Seconds of audio recognised in one second. Null: not measured. */
  readonly speed: number | null;
}

const SILENCE_MS = 10_000;
const DEMONSTRATION_IDLE_MS = 10_000;
/** The name of the engine that has both speaker models. No model can have it. */
const SPEAKERS = "(speakers)";

export function createRecognisers(options: RecogniserOptions): Recognisers {
  const { installed, isEngineInstalled, threads, silenceMs = SILENCE_MS, memory = availableMemory } = options;
  const engines = new Map<string, Engine>();
  /** Of models that were installed again with other files while they were used. */
  const retired = new Set<Engine>();
  const all = (): readonly Engine[] => [...engines.values(), ...retired];
  const room = { ...options, memory, engines: all };
  const parts = {
    ...options,
    start: options.start ?? startEngine,
    files: createFileCheck(),
    exclusively: createSequence(),
    makeRoom: (engine: Engine) => makeRoom(room, engine),
  };
  const runtime = readEngineRuntime();
  let isClosed = false;

  function engineFor(spec: EngineSpec): Engine {
    const known = engines.get(spec.name);
    if (known !== undefined && hasSameFiles(known, spec)) return known;
    // Installed again, with other files. What it recognises now is finished with the old ones.
    if (known !== undefined) {
      retired.add(known);
      void known.retire().finally(() => retired.delete(known));
    }
    const engine = createEngine(spec, { ...parts, idleMs: idleMsOf(spec.name, parts.idleMs) });
    engines.set(spec.name, engine);
    return engine;
  }

  function speakersIn(models: readonly InstalledModel[]): Engine | null {
    const pair = speakerModels(models);
    const config = speakersConfigOf(models, threads);
    return pair === null || config === null ? null : engineFor({ name: SPEAKERS, models: pair, config });
  }

  return {
    state: async () => ({ isEngineInstalled: isEngineInstalled(), models: await installed() }),
    open: async ({ model: name, audioSeconds }, terms) => {
      if (isClosed) throw new ProviderError("aborted", { reason: "closing" });
      if (!isEngineInstalled()) throw new ProviderError("not_found", { reason: "engine_not_installed" });
      const models = await installed();
      const model = models.find((each) => each.name === name);
      const config = model === undefined ? null : engineConfigOf(model, threads);
      if (model === undefined || config === null)
        throw new ProviderError("not_found", { reason: "model_not_installed" });
      const engine = engineFor({ name, models: [model], config });
      const speakers = (): Engine | null => speakersIn(models);
      return openLocalSession({ engine, model, runtime, audioSeconds, silenceMs, speakers }, terms);
    },
    report: () => [...engines.values()].map(reportLine),
    close: async () => {
      isClosed = true;
      await Promise.all(all().map((engine) => engine.close()));
    },
  };
}

/**
 * The demonstration model recognises one recording, which is rarely sent twice, and keeps 70 to 90 MiB while it is loaded. Loading it again takes 0.2 s
 * [local.idle].
 */
export function idleMsOf(model: string, idleMs: number): number {
  return model === DEMONSTRATION ? Math.min(DEMONSTRATION_IDLE_MS, idleMs) : idleMs;
}

/** Runs one work after the other. */
function createSequence(): EngineParts["exclusively"] {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const next = last.then(work);
    last = next.catch(() => undefined);
    return next;
  };
}

function reportLine(engine: Engine): EngineReportLine {
  const { name, capacity } = engine;
  const process = engine.running();
  return {
    model: name,
    pid: process?.pid ?? null,
    residentBytes: process?.residentBytes() ?? 0,
    isBusy: process?.isBusy() === true,
    queuedSeconds: capacity.admittedSeconds(),
    speed: capacity.speed(),
  };
}

function hasSameFiles({ models }: EngineSpec, other: EngineSpec): boolean {
  return models.every((model, index) => isSame(model, other.models[index]));
}

function isSame(one: InstalledModel, other: InstalledModel | undefined): boolean {
  return (
    other !== undefined &&
    one.dir === other.dir &&
    one.files.length === other.files.length &&
    one.files.every(({ path, sha256 }, at) => other.files[at]?.path === path && other.files[at].sha256 === sha256)
  );
}
