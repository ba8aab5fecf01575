// The child process of ffmpeg-process.ts: spawns ffmpeg for each recording and returns its output as samples, one chunk per request.
import { spawn } from "node:child_process";
import { endianness } from "node:os";

export interface FfmpegJob {
  readonly program: string;
  readonly arguments: readonly string[];
  readonly channels: number;
  readonly killAfterMs: number;
}
/** `id` is that of a run. `stop` kills ffmpeg. It is answered with the end. */
export type FfmpegOrder = { readonly id: number } & (
  | { readonly start: FfmpegJob }
  | { readonly order: "next" | "stop" }
);
export type FfmpegAnswer =
  | { readonly samples: Int16Array<ArrayBuffer> }
  /** Exit code of ffmpeg. Null: it was killed, or could not be started. `isLost`: the process that starts it died. */
  | { readonly exitCode: number | null; readonly isLost?: boolean };
export interface FfmpegMessage {
  readonly id: number;
  readonly answer: FfmpegAnswer;
}

const BYTES_PER_SAMPLE = 2;

interface Run {
  /** One chunk is requested at a time. */
  readonly answerNext: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

function serve(): void {
  const runs = new Map<number, Run>();
  // A terminal sends them to all processes of its group. This one serves until its parent ends.
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => undefined);
  process.once("disconnect", () => {
    for (const run of runs.values()) void run.stop();
    process.exit();
  });
  process.on("message", (order: FfmpegOrder) => {
    const { id } = order;
    const post = (answer: FfmpegAnswer): void => {
      // A stop and a request that it interrupts both report the end.
      if (!runs.has(id)) return;
      if ("exitCode" in answer) runs.delete(id);
      const message: FfmpegMessage = { id, answer };
      // If the parent has died, the disconnect ends this process.
      process.send?.(message, undefined, undefined, () => undefined);
    };
    if ("start" in order) {
      const failed: Run = {
        answerNext: async () => post({ exitCode: null }),
        stop: async () => post({ exitCode: null }),
      };
      try {
        runs.set(id, startRun(order.start, post));
      } catch {
        // The system has no memory or no descriptor left. The other runs go on.
        runs.set(id, failed);
      }
    } else if (order.order === "stop") void runs.get(id)?.stop();
    else void runs.get(id)?.answerNext();
  });
}

function startRun(
  { program, arguments: list, channels, killAfterMs }: FfmpegJob,
  post: (answer: FfmpegAnswer) => void,
): Run {
  const child = spawn(program, list, {
    // Passes no secrets or settings of this process. What ffmpeg writes to stderr is the caller's content, so it is ignored.
    env: {},
    stdio: ["ignore", "pipe", "ignore"],
  });
  // Not spawn's own `timeout`: if the program is missing, its timer keeps the process alive for as long.
  const timer = setTimeout(() => child.kill("SIGKILL"), killAfterMs);
  const exit = new Promise<number | null>((resolve) => {
    child.once("error", () => resolve(null)).once("close", resolve);
  });
  void exit.then(() => clearTimeout(timer));
  const chunks = wholeFrames(child.stdout, channels);
  return {
    answerNext: async () => {
      const chunk = await chunks.next().catch(() => null);
      if (chunk === null) child.kill("SIGKILL");
      post(chunk === null || chunk.done === true ? { exitCode: await exit } : { samples: chunk.value });
    },
    stop: async () => {
      child.kill("SIGKILL");
      child.stdout.destroy();
      await exit;
      post({ exitCode: null });
    },
  };
}

/** Pipes may end a chunk within a frame. */
async function* wholeFrames(
  source: AsyncIterable<Uint8Array>,
  channels: number,
): AsyncGenerator<Int16Array<ArrayBuffer>> {
  const frameBytes = channels * BYTES_PER_SAMPLE;
  let rest = Buffer.alloc(0);
  for await (const chunk of source) {
    const bytes = Buffer.concat([rest, chunk]);
    const wholeBytes = bytes.length - (bytes.length % frameBytes);
    rest = bytes.subarray(wholeBytes);
    if (wholeBytes > 0) yield samplesOf(bytes.subarray(0, wholeBytes));
  }
}

function samplesOf(bytes: Buffer): Int16Array<ArrayBuffer> {
  if (endianness() === "BE") bytes.swap16();
  const samples = new Int16Array(bytes.length / BYTES_PER_SAMPLE);
  new Uint8Array(samples.buffer).set(bytes);
  return samples;
}

serve();
