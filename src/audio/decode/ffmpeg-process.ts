// The child process that starts ffmpeg for all recordings of this process. Starting a program copies the page tables of the process that starts it: 5 ms at 150 MB,
// 16 ms at 370 MB, 1 ms in this small one. It takes 50 MB and 50 ms to start, so it is kept until it has been idle for a while [measuring.decoder-process].
import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { threadUrl } from "../../lib/thread-url.ts";
import type { FfmpegAnswer, FfmpegJob, FfmpegMessage, FfmpegOrder } from "./ffmpeg-main.ts";

export interface FfmpegProcess {
  /** Starts ffmpeg. The run must be stopped, also after its end. */
  open(job: FfmpegJob): FfmpegRun;
}

export interface FfmpegRun {
  /** Resolves with the next samples or the end. */
  next(): Promise<FfmpegAnswer>;
  /** Kills ffmpeg. `next` is answered with the end. */
  stop(): void;
  /** Resolves when the program has exited. */
  readonly ended: Promise<void>;
}

const MAIN = fileURLToPath(threadUrl(import.meta.url, "ffmpeg-main"));
const IDLE_MS = 60_000;

interface OpenRun {
  readonly child: ChildProcess;
  readonly take: (answer: FfmpegAnswer) => void;
}

export function createFfmpegProcess(): FfmpegProcess {
  const runs = new Map<number, OpenRun>();
  let child: ChildProcess | null = null;
  let idle: NodeJS.Timeout | undefined;
  let lastId = 0;

  function startChild(): ChildProcess {
    const started = fork(MAIN, [], {
      // Nothing of this process: no secrets, no settings, no flags.
      env: {},
      execArgv: [],
      serialization: "advanced",
      stdio: ["ignore", "ignore", "ignore", "ipc"],
    });
    const gone = (): void => {
      if (child === started) child = null;
      for (const run of runs.values()) if (run.child === started) run.take(LOST);
    };
    started.on("message", (message) => {
      const { id, answer } = message as FfmpegMessage;
      runs.get(id)?.take(answer);
    });
    return started.on("error", gone).on("disconnect", gone).on("exit", gone);
  }

  /** An idle child does not keep this process alive. */
  function release(): void {
    if (runs.size > 0 || child === null) return;
    const unused = child;
    unused.unref();
    unused.channel?.unref();
    idle = setTimeout(() => {
      if (child === unused) child = null;
      unused.kill("SIGKILL");
    }, IDLE_MS).unref();
  }

  return {
    open: (job) => {
      clearTimeout(idle);
      // The system may have no memory or no descriptor left: then the run ends as lost.
      child ??= tryStart(startChild);
      if (child === null) return NOT_STARTED;
      const used = child;
      used.ref();
      used.channel?.ref();
      const id = (lastId += 1);
      const ended = Promise.withResolvers<void>();
      let end: FfmpegAnswer | null = null;
      let request: PromiseWithResolvers<FfmpegAnswer> | null = null;
      const take = (answer: FfmpegAnswer): void => {
        if (end !== null) return;
        if ("exitCode" in answer) {
          end = answer;
          runs.delete(id);
          ended.resolve();
          release();
        }
        request?.resolve(answer);
      };
      const order = (what: FfmpegOrder): void => {
        if (!used.connected) return take(LOST);
        used.send(what, (error) => {
          if (error !== null) take(LOST);
        });
      };
      runs.set(id, { child: used, take });
      order({ id, start: job });
      return {
        next: () => {
          if (end !== null) return Promise.resolve(end);
          request = Promise.withResolvers();
          order({ id, order: "next" });
          return request.promise;
        },
        stop: () => {
          if (end === null) order({ id, order: "stop" });
        },
        ended: ended.promise,
      };
    },
  };
}

function tryStart(start: () => ChildProcess): ChildProcess | null {
  try {
    return start();
  } catch {
    return null;
  }
}

const LOST: FfmpegAnswer = { exitCode: null, isLost: true };
const NOT_STARTED: FfmpegRun = {
  next: () => Promise.resolve(LOST),
  stop: () => undefined,
  ended: Promise.resolve(),
};
