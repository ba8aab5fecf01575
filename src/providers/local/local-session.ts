// One recording or live session at the engine of its model: every operation waits for its turn and counts in the queue.
import type { InstalledModel } from "../../local-models/installed-model.ts";
import { ProviderError } from "../io.ts";
import { abortOf } from "./abort-of.ts";
import type { Admission } from "./capacity.ts";
import { type CallTerms, EngineFailure, type EngineProcess } from "./engine/engine-process.ts";
import type { EngineResult, EngineValue, SpeakerTurn } from "./engine/engine-protocol.ts";
import type { Engine } from "./engine/engine.ts";
import type { EngineRuntime } from "./engine/engine-runtime.ts";
import type { LiveEars, LocalSession, Samples } from "./local-calls.ts";
import { createPieceSender } from "./piece-sender.ts";

export interface SessionTerms {
  readonly signal: AbortSignal;
  /** Waiters are served round-robin by owner. */
  readonly owner: string;
  /** Waits for room in the queue instead of failing. */
  readonly waits: boolean;
  /** Called when the first samples are sent to the engine. */
  readonly onDispatch?: (() => void) | undefined;
}

export interface SessionParts {
  readonly engine: Engine;
  readonly model: InstalledModel;
  readonly runtime: EngineRuntime;
  /** 0 for live audio. */
  readonly audioSeconds: number;
  /** Null: one of the speaker models is missing. */
  readonly speakers: () => Engine | null;
  /** The longest time without a heartbeat. */
  readonly silenceMs: number;
}

/** Must be released. Throws an `overloaded` if there is no room and the session does not wait. */
export async function openLocalSession(parts: SessionParts, terms: SessionTerms): Promise<LocalSession> {
  const { engine, model, runtime, audioSeconds, silenceMs } = parts;
  const { signal, owner } = terms;
  // Also while it waits: a model that is installed again keeps its old process for those who came before.
  engine.enter();
  const admission = await admit(engine, audioSeconds, terms).catch((error: unknown) => {
    engine.leave();
    throw error;
  });
  const dispatch = once(terms.onDispatch);
  // Of pieces that still wait or are decoded when the session ends because another one failed.
  const ended = new AbortController();
  const sessionTerms = { owner, signal: AbortSignal.any([signal, ended.signal]) };
  let pending = 0;
  let dropStream: () => void = () => undefined;
  const sender = createPieceSender();
  const termsFor = (seconds: number): CallTerms => ({ silenceMs, limitMs: limitMsFor(seconds) });

  async function measured(seconds: number, operation: () => Promise<EngineValue>): Promise<readonly EngineResult[]> {
    dispatch();
    const startedMs = performance.now();
    const value = await operation();
    if (seconds > 0) engine.capacity.measured(seconds, performance.now() - startedMs);
    return value.kind === "recognised" ? value.results : [];
  }

  async function decode(
    { samples, sampleRate }: Samples,
    keyterms: readonly string[],
    onSent?: () => void,
  ): Promise<EngineResult> {
    const seconds = samples.length / sampleRate;
    if (audioSeconds === 0) admission.add(seconds);
    const piece = sender.begin({ samples, sampleRate, keyterms }, onSent);
    pending++;
    const [result] = await engine
      .run(sessionTerms, (process) => measured(seconds, () => piece.decode(process, termsFor(seconds))))
      .finally(() => {
        pending--;
        piece.end();
      });
    admission.done(seconds);
    if (result === undefined) throw new ProviderError("bad_reply", { reason: "no_result" });
    return result;
  }

  async function listen(): Promise<LiveEars> {
    const stream = nextStream();
    const opened = await engine.run(sessionTerms, async (process) => {
      await process.call({ kind: "open", stream }, termsFor(1));
      return process;
    });
    dropStream = () => {
      if (opened.isAlive()) void opened.tell({ kind: "drop", stream });
    };
    // The state of a stream is in its process, so that nothing can be repeated.
    const operate = (seconds: number, operation: (process: EngineProcess) => Promise<EngineValue>) =>
      engine.run({ ...sessionTerms, mayRepeat: false }, (process) => {
        if (process !== opened) throw new EngineFailure("gone", "the stream's process has ended");
        return measured(seconds, () => operation(process));
      });
    return {
      hear: ({ samples, sampleRate }) => {
        const seconds = samples.length / sampleRate;
        return operate(seconds, (process) =>
          process.call({ kind: "feed", stream, samples, sampleRate }, termsFor(seconds)),
        );
      },
      finish: () => operate(0, (process) => process.call({ kind: "finish", stream }, termsFor(1))),
    };
  }

  return {
    model,
    runtime,
    signal,
    decode,
    listen,
    diarize: (samples, speakers) => diarize(parts.speakers(), samples, speakers, terms),
    release: once(() => {
      if (pending > 0) ended.abort(new ProviderError("aborted", { reason: "session_ended" }));
      dropStream();
      admission.release();
      engine.leave();
    }),
  };
}

async function admit({ capacity }: Engine, seconds: number, { signal, waits }: SessionTerms): Promise<Admission> {
  const admission = capacity.admit(seconds);
  if (admission !== null) return admission;
  if (!waits)
    throw new ProviderError("overloaded", { reason: "queue_full", retryAfterSeconds: capacity.retryAfterSeconds() });
  return capacity.wait(seconds, signal).catch(() => {
    throw abortOf(signal);
  });
}

async function diarize(
  engine: Engine | null,
  samples: () => AsyncIterable<Samples>,
  speakers: number | null,
  { signal, owner }: SessionTerms,
): Promise<readonly SpeakerTurn[]> {
  if (engine === null) throw new ProviderError("not_found", { reason: "model_not_installed" });
  engine.enter();
  try {
    return await engine.run({ signal, owner }, (process) => separate(process, samples, speakers));
  } finally {
    engine.leave();
  }
}

async function separate(
  process: EngineProcess,
  samples: () => AsyncIterable<Samples>,
  speakers: number | null,
): Promise<readonly SpeakerTurn[]> {
  let seconds = 0;
  try {
    for await (const part of samples()) {
      seconds += part.samples.length / part.sampleRate;
      await process.tell({ kind: "part", samples: part.samples });
    }
    // It blocks the event loop of its process, which then sends no heartbeat.
    const limitMs = limitMsFor(seconds);
    const value = await process.call({ kind: "diarize", speakers }, { silenceMs: limitMs, limitMs });
    if (value.kind !== "diarized") throw new ProviderError("bad_reply", { reason: "no_result" });
    return value.turns;
  } catch (error) {
    // Parts that were sent must not be taken for the next recording.
    await process.kill();
    throw error;
  }
}

/** Ten times slower than speech and more is of no use to anyone. */
function limitMsFor(audioSeconds: number): number {
  return 30_000 + audioSeconds * 10_000;
}

function once(work: (() => void) | undefined): () => void {
  let isDone = false;
  return () => {
    if (isDone) return;
    isDone = true;
    work?.();
  };
}

/** A process has the streams of several sessions. */
function nextStream(): number {
  return Math.floor(Math.random() * Number.MAX_SAFE_INTEGER);
}
