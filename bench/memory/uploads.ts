// Measures resident memory of one gateway process during many large concurrent uploads, on a PostgreSQL server.
import { startPostgresServer } from "../../test/harness/postgres/postgres-server.ts";
import { memoryOf } from "../cost.ts";
import { KEY, runLoad, startPatchbay, startStandIn } from "../measure/processes.ts";
import { type Report, quantile, round } from "../measure/report.ts";
import { mebibytes } from "../measure/sizes.ts";
import { SEED } from "../upstream/wav.ts";

const SAMPLE_MS = 50;
const LIMIT_BYTES = 512 * 1_048_576;
const LONGEST_SECONDS = 600;

export async function benchUploadMemory(options: { readonly sizeBytes: number; readonly uploads: number }) {
  const { sizeBytes, uploads } = options;
  const postgres = await startPostgresServer({ commits: "kept" });
  try {
    await using standIn = await startStandIn();
    await using gateway = await startPatchbay({ providerUrl: standIn.origin, databaseUrl: postgres.url });
    const upload = (fileBytes: number) => ({ kind: "upload", path: "/v1/transcription", fileBytes }) as const;
    const load = { origin: gateway.origin, seconds: LONGEST_SECONDS, key: KEY };
    // One small upload first: modules loaded on first use do not count as memory of uploads.
    await runLoad({ ...load, request: upload(65_536), connections: 1, maxRequests: 1 });
    const idleBytes = memoryOf(gateway.pid).rssBytes;
    const samples: number[] = [];
    const timer = setInterval(() => samples.push(memoryOf(gateway.pid).rssBytes), SAMPLE_MS);
    const result = await runLoad({ ...load, request: upload(sizeBytes), connections: uploads, maxRequests: uploads });
    clearInterval(timer);
    const sampledPeak = Math.max(...samples);
    const { rssBytes: after, peakBytes } = memoryOf(gateway.pid);
    const grownBytes = Math.max(sampledPeak, peakBytes) - idleBytes;
    const allServed = (result.statuses["200"] ?? 0) === uploads;
    const holds = allServed && grownBytes <= LIMIT_BYTES;
    if (!holds) process.exitCode = 1;
    return {
      name: "memory of uploads",
      rows: [
        {
          uploads,
          each: mebibytes(sizeBytes),
          answered: JSON.stringify(result.statuses),
          "idle RSS": mebibytes(idleBytes),
          "peak RSS": mebibytes(peakBytes),
          grown: mebibytes(grownBytes),
          limit: mebibytes(LIMIT_BYTES),
          seconds: round(result.seconds, 1),
          verdict: holds ? "holds" : "FAILS",
        },
      ],
      notes: [
        `RSS sampled every ${SAMPLE_MS} ms (n=${samples.length}, sampled peak ${mebibytes(sampledPeak)}); the peak is the kernel's VmHWM.`,
        ...(result.firstFault === null ? [] : [`First answer that was not a 200: ${result.firstFault}`]),
      ],
      data: {
        engine: "postgres",
        n: uploads,
        sizeBytes,
        seed: SEED,
        statuses: result.statuses,
        seconds: round(result.seconds, 2),
        idleBytes,
        peakBytes,
        grownBytes,
        afterBytes: after,
        p50Ms: round(quantile(result.latenciesMs, 0.5), 0),
        p99Ms: round(quantile(result.latenciesMs, 0.99), 0),
        holds,
      },
    } satisfies Report;
  } finally {
    await postgres.stop();
  }
}
