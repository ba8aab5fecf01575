// The worker thread of ffmpeg.ts: starts the program and makes samples of what it says, one chunk for each time it is asked. Starting
// a process copies the tables of all of this one's memory: 9 ms at 300 MB and 22 ms at 800 MB, and on a busy machine ten times as
// long (measured 2026-11-21), in which nobody would be answered.
import { spawn } from "node:child_process";
import { parentPort, workerData } from "node:worker_threads";

export interface FfmpegJob {
  readonly program: string;
  readonly arguments: readonly string[];
  readonly channels: number;
  readonly killAfterMs: number;
}
/** `stop`: kill it. To be answered with the end. */
export type FfmpegOrder = "next" | "stop";
export type FfmpegAnswer =
  | { readonly samples: Int16Array<ArrayBuffer> }
  /** What it exited with; null: it was killed, or could not be started. */
  | { readonly exitCode: number | null };

const BYTES_PER_SAMPLE = 2;

function work({ program, arguments: list, channels, killAfterMs }: FfmpegJob): void {
  const port = parentPort;
  if (port === null) throw new Error("this is a worker thread's file");
  const child = spawn(program, list, {
    // Neither secrets nor settings of ours; what it writes to stderr is the caller's content.
    env: {},
    stdio: ["ignore", "pipe", "ignore"],
  });
  // Not spawn's own `timeout`: where the program is missing, its timer holds the process for as long.
  const timer = setTimeout(() => child.kill("SIGKILL"), killAfterMs);
  const ended = new Promise<number | null>((resolve) => {
    child.once("error", () => resolve(null)).once("close", resolve);
  });
  const chunks = wholeFrames(child.stdout, channels);

  /** One is asked for at a time; a stop breaks it off, and answers for itself. */
  async function answerNext(): Promise<void> {
    const chunk = await chunks.next().catch(() => null);
    if (chunk === null) return;
    tell(chunk.done === true ? { exitCode: await ended } : { samples: chunk.value });
  }
  function tell(answer: FfmpegAnswer): void {
    port?.postMessage(answer, "samples" in answer ? [answer.samples.buffer] : []);
    if ("samples" in answer) return;
    clearTimeout(timer);
    port?.close();
  }
  async function stop(): Promise<void> {
    child.kill("SIGKILL");
    child.stdout.destroy();
    await ended;
    tell({ exitCode: null });
  }
  port.on("message", (order: FfmpegOrder) => {
    void (order === "stop" ? stop() : answerNext());
  });
}

/** Pipes cut where they like. */
async function* wholeFrames(
  source: AsyncIterable<Uint8Array>,
  channels: number,
): AsyncGenerator<Int16Array<ArrayBuffer>> {
  const frameBytes = channels * BYTES_PER_SAMPLE;
  let rest = Buffer.alloc(0);
  for await (const chunk of source) {
    const bytes = Buffer.concat([rest, chunk]);
    const whole = bytes.length - (bytes.length % frameBytes);
    const samples = new Int16Array(whole / BYTES_PER_SAMPLE);
    for (let index = 0; index < samples.length; index++) samples[index] = bytes.readInt16LE(index * BYTES_PER_SAMPLE);
    rest = bytes.subarray(whole);
    if (samples.length > 0) yield samples;
  }
}

work(workerData as FfmpegJob);
