// One recording through ffmpeg (contract 10, `split_long_audio`): a process without a shell, without our environment, that sees one
// file under a name of ours, read as the format its content showed, and no network; under a clock and a limit of what it may say.
import { spawn } from "node:child_process";
import { join } from "node:path";
import type { AudioFormat } from "../media-types.ts";
import { createSpoolFile } from "../spool-file.ts";
import { spoolFileName } from "../spool-leftovers.ts";
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
  const { audio, channels, signal } = call;
  // A file, for the index of an MP4 can lie at its end.
  const file = createSpoolFile(join(call.directory, spoolFileName()));
  try {
    for await (const chunk of audio.open()) {
      signal.throwIfAborted();
      await file.write(chunk);
    }
    await file.finish();
    yield* wholeFrames(runFfmpeg(call, file.path), channels);
  } finally {
    await file.remove();
  }
}

export function ffmpegArguments({ audio, rate, channels }: FfmpegCall, path: string): readonly string[] {
  return [
    ["-nostdin", "-hide_banner", "-loglevel", "quiet", "-threads", "1"],
    ["-protocol_whitelist", "file,pipe", "-f", DEMUXERS[audio.format], "-i", `file:${path}`],
    ["-map", "0:a:0", "-vn", "-sn", "-dn", "-map_metadata", "-1"],
    ["-ac", String(channels), "-ar", String(rate), "-c:a", "pcm_s16le", "-f", "s16le", "pipe:1"],
  ].flat();
}

async function* runFfmpeg(call: FfmpegCall, path: string): AsyncGenerator<Uint8Array> {
  const { audio, rate, channels, signal } = call;
  const child = spawn(call.program, ffmpegArguments(call, path), {
    // Neither secrets nor settings of ours; what it writes to stderr is the caller's content.
    env: {},
    stdio: ["ignore", "pipe", "ignore"],
    // Not spawn's own `timeout`: where the program is missing, its timer holds the process for as long.
    signal: AbortSignal.any([signal, AbortSignal.timeout(killAfterMs(audio.durationSeconds))]),
    killSignal: "SIGKILL",
  });
  const ended = new Promise<number | Error | null>((resolve) => {
    child.once("error", resolve).once("close", resolve);
  });
  let left = (audio.durationSeconds + SLACK_SECONDS) * rate * channels * 2;
  try {
    for await (const chunk of child.stdout as AsyncIterable<Buffer>) {
      left -= chunk.length;
      if (left < 0) throw new Undecodable("longer_than_measured");
      yield chunk;
    }
    const end = await ended;
    signal.throwIfAborted();
    if (end !== 0) throw new Undecodable("ffmpeg", { cause: end instanceof Error ? end : undefined });
  } finally {
    child.kill("SIGKILL");
    await ended;
  }
}

/** Pipes cut where they like. */
async function* wholeFrames(source: AsyncIterable<Uint8Array>, channels: number): AsyncGenerator<Int16Array> {
  const frameBytes = channels * 2;
  let rest = Buffer.alloc(0);
  for await (const chunk of source) {
    const bytes = Buffer.concat([rest, chunk]);
    const whole = bytes.length - (bytes.length % frameBytes);
    const samples = new Int16Array(whole / 2);
    for (let index = 0; index < samples.length; index++) samples[index] = bytes.readInt16LE(index * 2);
    rest = bytes.subarray(whole);
    if (samples.length > 0) yield samples;
  }
}
