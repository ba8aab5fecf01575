// The worker thread of ffmpeg.ts: spawns ffmpeg and returns its output as samples, one chunk per request. Spawning copies the page tables of this process: 9 ms
// at 300 MB, 22 ms at 800 MB and ten times as long on a busy machine (measured 2026-11-21), during which the event loop would be blocked.
import { spawn } from "node:child_process";
import { parentPort, workerData } from "node:worker_threads";

export interface FfmpegJob {
  readonly program: string;
  readonly arguments: readonly string[];
  readonly channels: number;
  readonly killAfterMs: number;
}
/** `stop` kills ffmpeg. It is answered with the end. */
export type FfmpegOrder = "next" | "stop";
export type FfmpegAnswer =
  | { readonly samples: Int16Array<ArrayBuffer> }
  /** Exit code of ffmpeg. Null: it was killed, or could not be started. */
  | { readonly exitCode: number | null };

const BYTES_PER_SAMPLE = 2;

function work({ program, arguments: list, channels, killAfterMs }: FfmpegJob): void {
  const port = parentPort;
  if (port === null) throw new Error("this is a worker thread's file");
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
  const chunks = wholeFrames(child.stdout, channels);

  /** One chunk is requested at a time. A stop interrupts the request and sends its own answer. */
  async function answerNext(): Promise<void> {
    const chunk = await chunks.next().catch(() => null);
    if (chunk === null) return;
    post(chunk.done === true ? { exitCode: await exit } : { samples: chunk.value });
  }
  function post(answer: FfmpegAnswer): void {
    port?.postMessage(answer, "samples" in answer ? [answer.samples.buffer] : []);
    if ("samples" in answer) return;
    clearTimeout(timer);
    port?.close();
  }
  async function stop(): Promise<void> {
    child.kill("SIGKILL");
    child.stdout.destroy();
    await exit;
    post({ exitCode: null });
  }
  port.on("message", (order: FfmpegOrder) => {
    void (order === "stop" ? stop() : answerNext());
  });
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
    const samples = new Int16Array(wholeBytes / BYTES_PER_SAMPLE);
    for (let index = 0; index < samples.length; index++) samples[index] = bytes.readInt16LE(index * BYTES_PER_SAMPLE);
    rest = bytes.subarray(wholeBytes);
    if (samples.length > 0) yield samples;
  }
}

work(workerData as FfmpegJob);
