// The recording in question for `patchbay route explain`: measured from a file, or as described by the options.
import { stat } from "node:fs/promises";
import { createMeasurer } from "../../audio/measure.ts";
import { EXIT } from "../../cli/exit-codes.ts";
import type { ExplainOptions } from "../../cli/inspect/route-commands.ts";
import { CliError } from "../../cli/terminal.ts";
import type { DeclaredRecording } from "../../gateway/transcription/unmeasured-audio.ts";
import { reasonOf } from "../doctor/finding.ts";

/** Null: the recording is unknown. */
export async function recordingOf(path: string | null, options: ExplainOptions): Promise<DeclaredRecording | null> {
  if (path !== null) return measureFile(path);
  const { seconds, bytes, channels = 1, audioFormat = "wav" } = options;
  if (seconds === undefined) return null;
  const sizeBytes = bytes === undefined ? null : Math.round(bytes);
  return { format: audioFormat, durationSeconds: seconds, channels, sizeBytes, codec: null, sampleRate: null };
}

/** Generous, because no other request waits for it. */
const MEASURE_MS = 60_000;

async function measureFile(path: string): Promise<DeclaredRecording> {
  const measurer = createMeasurer({ killAfterMs: () => MEASURE_MS });
  try {
    const { size: sizeBytes } = await stat(path);
    const measurement = await measurer.measure({ kind: "file", path, sizeBytes });
    if (!measurement.ok) throw new CliError(EXIT.usage, `The recording ${measurement.reason}.`);
    const { format, durationSeconds, channels, codec, sampleRate } = measurement;
    return { format, sizeBytes, durationSeconds, channels, codec, sampleRate };
  } catch (error) {
    if (error instanceof CliError) throw error;
    throw new CliError(EXIT.usage, `${path} cannot be read: ${reasonOf(error)}.`);
  } finally {
    await measurer.close();
  }
}
