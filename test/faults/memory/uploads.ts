// R13: the benchmark `memory` as a trial. N concurrent uploads of 25 MiB to one gateway; each is answered, and resident memory grows by at most 512 MiB.
import { benchUploadMemory } from "../../../bench/memory/uploads.ts";
import { mebibytes } from "../../../bench/measure/sizes.ts";
import type { FaultOptions, Trials } from "../fault.ts";

const UPLOAD_BYTES = 25 * 1_048_576;

export async function runUploads({ n }: FaultOptions): Promise<Trials> {
  const started = performance.now();
  const { data } = await benchUploadMemory({ sizeBytes: UPLOAD_BYTES, uploads: n });
  const { statuses, idleBytes, peakBytes, grownBytes, holds } = data;
  const statusText = JSON.stringify(statuses);
  return {
    engine: "postgres",
    n,
    violations: holds ? [] : [`grown by ${mebibytes(grownBytes)}, answered ${statusText}`],
    seconds: (performance.now() - started) / 1000,
    figures: {
      "resident memory": `idle ${mebibytes(idleBytes)}, peak ${mebibytes(peakBytes)}, grown ${mebibytes(grownBytes)} (bound 512 MiB)`,
      answered: statusText,
    },
  };
}
