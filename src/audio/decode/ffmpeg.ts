// Decodes one recording with ffmpeg [measuring.ffmpeg-confined]: a process without a shell and without this process's environment, which
// sees one file under a generated name, read as the format that its content showed, and no network. Its time and its output are limited.
// A thread of its own starts it and reads its output.
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import type { AudioFormat } from "../../contract/audio-formats.ts";
import { createSpoolFile } from "../spool-file.ts";
import { spoolFileName } from "../spool-leftovers.ts";
import { threadUrl } from "../../lib/thread-url.ts";
import type { FfmpegAnswer, FfmpegJob, FfmpegOrder } from "./ffmpeg-worker.ts";
import { type EncodedAudio, Undecodable } from "./pcm.ts";

export interface FfmpegCall {
  readonly program: string;
  readonly directory: string;
  readonly audio: EncodedAudio;
  readonly rate: number;
  readonly channels: number;
  readonly signal: AbortSignal;
}

/** Never guessed by ffmpeg: a playlist that calls itself a recording would be followed. */
const DEMUXERS: Readonly<Record<AudioFormat, string>> = {
  mp3: "mp3",
  mp4: "mov",
  m4a: "mov",
  mpeg: "mpeg",
  wav: "wav",
  webm: "matroska",
};

/** Decoding runs at a hundred times the speed of speech and more; a quarter of its length is a machine in distress. */
const killAfterMs = (seconds: number): number => Math.round(30_000 + seconds * 250);
/** What may come beyond the measured length before it is no longer the recording that was measured, and paid for. */
const SLACK_SECONDS = 5;

export async function* decodeByFfmpeg(call: FfmpegCall): AsyncGenerator<Int16Array> {
  const { audio, signal } = call;
  // A file, for the index of an MP4 can lie at its end.
  const file = createSpoolFile(join(call.directory, spoolFileName()));
  try {
    for await (const chunk of audio.open()) {
      signal.throwIfAborted();
      await file.write(chunk);
    }
    await file.finish();
    yield* runFfmpeg(call, file.path);
  } finally {
    await file.remove();
  }
}

function ffmpegArguments({ audio, rate, channels }: FfmpegCall, path: string): readonly string[] {
  return [
    ["-nostdin", "-hide_banner", "-loglevel", "quiet", "-threads", "1"],
    ["-protocol_whitelist", "file,pipe", "-f", DEMUXERS[audio.format], "-i", `file:${path}`],
    ["-map", "0:a:0", "-vn", "-sn", "-dn", "-map_metadata", "-1"],
    ["-ac", String(channels), "-ar", String(rate), "-c:a", "pcm_s16le", "-f", "s16le", "pipe:1"],
  ].flat();
}

async function* runFfmpeg(call: FfmpegCall, path: string): AsyncGenerator<Int16Array> {
  const { program, audio, rate, channels, signal } = call;
  const job: FfmpegJob = {
    program,
    arguments: ffmpegArguments(call, path),
    channels,
    killAfterMs: killAfterMs(audio.durationSeconds),
  };
  const worker = openWorker(job);
  const stop = (): void => worker.order("stop");
  signal.addEventListener("abort", stop, { once: true });
  let left = (audio.durationSeconds + SLACK_SECONDS) * rate * channels;
  try {
    for (;;) {
      // A turn for everybody else: answers that come fast would be taken one after the other within one.
      await setImmediate();
      signal.throwIfAborted();
      worker.order("next");
      const answer = await worker.answer();
      signal.throwIfAborted();
      if ("exitCode" in answer) {
        if (answer.exitCode === 0) return;
        throw new Undecodable("ffmpeg");
      }
      left -= answer.samples.length;
      if (left < 0) throw new Undecodable("longer_than_measured");
      yield answer.samples;
    }
  } finally {
    signal.removeEventListener("abort", stop);
    stop();
    await worker.ended;
  }
}

interface FfmpegWorker {
  order(order: FfmpegOrder): void;
  /** The next one; rejects where the thread itself fails. */
  answer(): Promise<FfmpegAnswer>;
  /** Resolves when the thread and its program are gone. */
  readonly ended: Promise<unknown>;
}

const WORKER_URL = threadUrl(import.meta.url, "ffmpeg-worker");

function openWorker(job: FfmpegJob): FfmpegWorker {
  const worker = new Worker(WORKER_URL, { workerData: job, env: {}, execArgv: [] });
  let asked: PromiseWithResolvers<FfmpegAnswer> | null = null;
  worker.on("message", (answer: FfmpegAnswer) => asked?.resolve(answer));
  worker.on("error", (error) => asked?.reject(error));
  const ended = new Promise((resolve) => worker.once("exit", resolve));
  // What it said last comes before.
  void ended.then(() => asked?.resolve({ exitCode: null }));
  return {
    order: (order) => {
      if (order === "next") asked = Promise.withResolvers();
      worker.postMessage(order satisfies FfmpegOrder);
    },
    answer: () => asked?.promise ?? Promise.reject(new Error("nothing was asked")),
    ended,
  };
}
