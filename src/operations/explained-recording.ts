// The recording that `patchbay route explain` is about: measured, or as its options say.
import { stat } from "node:fs/promises";
import { createMeasurer } from "../audio/measure.ts";
import { EXIT } from "../cli/exit-codes.ts";
import type { ExplainOptions } from "../cli/route-commands.ts";
import { CliError } from "../cli/terminal.ts";
import type { DeclaredRecording } from "../gateway/unmeasured-audio.ts";
import { reasonOf } from "./finding.ts";

/** Null: nothing is known of it. */
export async function recordingOf(path: string | null, options: ExplainOptions): Promise<DeclaredRecording | null> {
  if (path !== null) return measured(path);
  const { seconds, bytes, channels = 1, audioFormat = "wav" } = options;
  if (seconds === undefined) return null;
  const sizeBytes = bytes === undefined ? null : Math.round(bytes);
  return { format: audioFormat, durationSeconds: seconds, channels, sizeBytes, codec: null, sampleRate: null };
}

/** Nobody else waits for it. */
const MEASURE_MS = 60_000;

async function measured(path: string): Promise<DeclaredRecording> {
  const measurer = createMeasurer({ killAfterMs: () => MEASURE_MS });
  try {
    const { size: sizeBytes } = await stat(path);
    const found = await measurer.measure({ kind: "file", path, sizeBytes });
    if (!found.ok) throw new CliError(EXIT.usage, `The recording ${found.reason}.`);
    const { format, durationSeconds, channels, codec, sampleRate } = found;
    return { format, sizeBytes, durationSeconds, channels, codec, sampleRate };
  } catch (error) {
    if (error instanceof CliError) throw error;
    throw new CliError(EXIT.usage, `${path} cannot be read: ${reasonOf(error)}.`);
  } finally {
    await measurer.close();
  }
}
