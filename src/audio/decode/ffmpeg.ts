// Decodes one recording with ffmpeg in confinement [measuring.ffmpeg-confined]: no shell, no inherited environment, no network, one input file with a generated
// name and the format that its content showed, limited time and output. A small process starts it and reads its output (ffmpeg-process.ts).
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import type { AudioFormat } from "../../contract/transcription/audio-formats.ts";
import { createSpoolFile } from "../spool-file.ts";
import { spoolFileName } from "../spool-leftovers.ts";
import type { FfmpegProcess } from "./ffmpeg-process.ts";
import { type EncodedAudio, Undecodable } from "./pcm.ts";

export interface FfmpegCall {
  readonly starter: FfmpegProcess;
  readonly program: string;
  readonly directory: string;
  readonly audio: EncodedAudio;
  readonly rate: number;
  readonly channels: number;
  readonly signal: AbortSignal;
}

/** Set explicitly, because ffmpeg's format detection would follow a playlist that is declared as a recording. */
const DEMUXERS: Readonly<Record<AudioFormat, string>> = {
  mp3: "mp3",
  mp4: "mov",
  m4a: "mov",
  mpeg: "mpeg",
  wav: "wav",
  webm: "matroska",
};

/** Decoding is a hundred times faster than speech and more. A quarter of the duration means an overloaded machine. */
const killAfterMs = (seconds: number): number => Math.round(30_000 + seconds * 250);
/** Tolerance beyond the measured duration. With more, it is not the recording that was measured and billed. */
const SLACK_SECONDS = 5;

export async function* decodeByFfmpeg(call: FfmpegCall): AsyncGenerator<Int16Array> {
  const { audio, signal } = call;
  // A file instead of a pipe, because the index of an MP4 can be at its end.
  const file = createSpoolFile(join(call.directory, spoolFileName()));
  try {
    for await (const chunk of audio.open("passing")) {
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

/** The process that starts ffmpeg, which serves all callers, died. */
class StarterLost extends Undecodable {}

/** If that process dies before the first samples, a new one is tried once: another caller's recording may have ended it. */
async function* runFfmpeg(call: FfmpegCall, path: string): AsyncGenerator<Int16Array> {
  let hasBegun = false;
  try {
    for await (const samples of runOnce(call, path)) {
      hasBegun = true;
      yield samples;
    }
  } catch (error) {
    if (!(error instanceof StarterLost) || hasBegun) throw error;
    yield* runOnce(call, path);
  }
}

async function* runOnce(call: FfmpegCall, path: string): AsyncGenerator<Int16Array> {
  const { starter, program, audio, rate, channels, signal } = call;
  const run = starter.open({
    program,
    arguments: ffmpegArguments(call, path),
    channels,
    killAfterMs: killAfterMs(audio.durationSeconds),
  });
  const stop = (): void => run.stop();
  signal.addEventListener("abort", stop, { once: true });
  let remainingSamples = (audio.durationSeconds + SLACK_SECONDS) * rate * channels;
  try {
    for (;;) {
      // Yields to the event loop: answers that arrive fast would otherwise all be handled in one tick.
      await setImmediate();
      signal.throwIfAborted();
      const answer = await run.next();
      signal.throwIfAborted();
      if ("exitCode" in answer) {
        if (answer.exitCode === 0) return;
        throw answer.isLost === true ? new StarterLost("ffmpeg") : new Undecodable("ffmpeg");
      }
      remainingSamples -= answer.samples.length;
      if (remainingSamples < 0) throw new Undecodable("longer_than_measured");
      yield answer.samples;
    }
  } finally {
    signal.removeEventListener("abort", stop);
    stop();
    await run.ended;
  }
}
