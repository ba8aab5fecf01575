// One child process with one model loaded. A crash of native code, or of its memory, ends the child and never this process (docs/decisions/0048).
import { type ChildProcess, fork } from "node:child_process";
import { Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import { threadUrl } from "../../../lib/thread-url.ts";
import {
  type EngineFault,
  type EngineOrder,
  type EngineReport,
  type EngineValue,
  HEARTBEAT_MS,
  SAMPLES_FD,
} from "./engine-protocol.ts";

/** `gone`: the process ended, or was ended because it was silent or an operation took too long. */
export class EngineFailure extends Error {
  readonly reason: EngineFault | "gone";
  /** For the log: text of the engine, which may contain paths. */
  readonly detail: string;

  constructor(reason: EngineFault | "gone", detail: string) {
    super(`the local engine failed: ${reason}`);
    this.name = "EngineFailure";
    this.reason = reason;
    this.detail = detail;
  }
}

/** One operation, without its id. */
export type EngineCall = DistributiveOmit<Extract<EngineOrder, { readonly id: number }>, "id">;
type DistributiveOmit<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never;

/** They must not change until they are sent. */
export interface PieceSamples extends Omit<Extract<EngineOrder, { kind: "piece" }>, "kind" | "piece" | "sampleCount"> {
  readonly samples: Int16Array;
}

export interface EngineProcess {
  /** Rejects with an `EngineFailure`. One call at a time. */
  call(order: EngineCall, terms: CallTerms): Promise<EngineValue>;
  /**
   * Sends a piece, also during a call, and returns its number. It must be decoded once or discarded. Throws an `EngineFailure`. `onSent` is called when all
   * samples are in the pipe.
   */
  send(piece: PieceSamples, onSent?: () => void): number;
  /** Sends an order that has no answer. Resolves when it was handed over. */
  tell(order: Extract<EngineOrder, { kind: "part" | "drop" | "discard" }>): Promise<void>;
  isAlive(): boolean;
  isBusy(): boolean;
  residentBytes(): number;
  readonly pid: number | undefined;
  /** Resolves when the process has ended. */
  kill(): Promise<void>;
}

export interface CallTerms {
  /** The longest silence. Operations that block the child's event loop need more than its heartbeat. */
  readonly silenceMs: number;
  /** The longest duration. */
  readonly limitMs: number;
}

const MAX_DETAIL_CHARACTERS = 500;

export function startEngine(): EngineProcess {
  const child = fork(fileURLToPath(threadUrl(import.meta.url, "engine-main")), [], {
    // Nothing of this process: no secrets, no settings, no flags.
    env: {},
    execArgv: [],
    serialization: "advanced",
    stdio: ["ignore", "ignore", "pipe", "ipc", "pipe"],
  });
  // Before anything else: a process without a descriptor left gets this event, and streams and `send` are missing.
  child.on("error", () => undefined);
  // It never keeps this process alive.
  child.unref();
  child.channel?.unref();
  const lastWords = collectDetail(child);
  const samplesPipe = pipeOf(child);
  const ended = Promise.withResolvers<void>();
  let isOver = false;
  let residentBytes = 0;
  let nextId = 1;
  let nextPiece = 1;
  let heardTicks = 0;
  let pending: { readonly id: number; readonly settle: PromiseWithResolvers<EngineValue> } | null = null;

  const end = (detail: string): void => {
    if (isOver) return;
    isOver = true;
    child.kill("SIGKILL");
    samplesPipe?.destroy();
    pending?.settle.reject(new EngineFailure("gone", detail));
    pending = null;
  };
  child.once("error", (error) => {
    end(error.message);
    ended.resolve();
  });
  // The child reads nothing more, so that it has ended or will.
  samplesPipe?.on("error", (error) => end(error.message));
  child.once("exit", (code, signal) => {
    end(`exit code ${code}, signal ${signal}. ${lastWords()}`);
    ended.resolve();
  });
  child.on("message", (message) => {
    const report = message as EngineReport;
    heardTicks = 0;
    if (report.kind === "alive") residentBytes = report.residentBytes;
    else if (report.id === pending?.id) {
      const { settle } = pending;
      pending = null;
      if (report.kind === "done") settle.resolve(report.value);
      else settle.reject(new EngineFailure(report.reason, report.detail));
    }
  });

  async function call(order: EngineCall, { silenceMs, limitMs }: CallTerms): Promise<EngineValue> {
    if (isOver) throw new EngineFailure("gone", "");
    if (pending !== null) throw new Error("the engine has one operation at a time");
    const id = nextId++;
    const settle = Promise.withResolvers<EngineValue>();
    pending = { id, settle };
    heardTicks = 0;
    let ticks = 0;
    // Counts ticks instead of comparing times: while this process is blocked, none passes and no report is read either.
    const watch = setInterval(() => {
      heardTicks++;
      ticks++;
      if (heardTicks * HEARTBEAT_MS > silenceMs) end("silent");
      else if (ticks * HEARTBEAT_MS > limitMs) end("too slow");
    }, HEARTBEAT_MS);
    child.channel?.ref();
    try {
      void send(child, { ...order, id }, end);
      return await settle.promise;
    } finally {
      clearInterval(watch);
      child.channel?.unref();
    }
  }

  return {
    call,
    send: ({ samples, sampleRate, keyterms }, onSent) => {
      if (isOver) throw new EngineFailure("gone", "");
      const piece = nextPiece++;
      samplesPipe?.write(Buffer.from(samples.buffer, samples.byteOffset, samples.byteLength), () => onSent?.());
      void send(child, { kind: "piece", piece, sampleCount: samples.length, sampleRate, keyterms }, end);
      return piece;
    },
    tell: async (order) => {
      if (isOver) throw new EngineFailure("gone", "");
      await send(child, order, end);
    },
    isAlive: () => !isOver,
    isBusy: () => pending !== null,
    residentBytes: () => residentBytes,
    pid: child.pid,
    kill: async () => {
      end("stopped");
      child.ref();
      await ended.promise;
    },
  };
}

/** It never keeps this process alive. Null: the process could not be started. */
function pipeOf({ stdio }: Partial<ChildProcess>): Writable | null {
  const pipe = stdio?.[SAMPLES_FD];
  if (!(pipe instanceof Writable)) return null;
  unref(pipe);
  return pipe;
}

function unref(stream: object): void {
  if ("unref" in stream && typeof stream.unref === "function") stream.unref();
}

function send(child: ChildProcess, order: EngineOrder, end: (detail: string) => void): Promise<void> {
  return new Promise((resolve) => {
    if (!child.connected) {
      end("it was not started");
      return resolve();
    }
    child.send(order, undefined, undefined, (error) => {
      if (error !== null) end(error.message);
      resolve();
    });
  });
}

/** The end of what the engine writes to its stderr, for the log. */
function collectDetail({ stderr }: Partial<ChildProcess>): () => string {
  let text = "";
  stderr?.setEncoding("utf8");
  stderr?.on("data", (chunk: string) => {
    text = `${text}${chunk}`.slice(-MAX_DETAIL_CHARACTERS);
  });
  // The stream would keep this process alive.
  if (stderr instanceof Readable) unref(stderr);
  return () => text.replaceAll(/\s+/gu, " ").trim();
}
