// Measures resident memory of one gateway process while many long recordings are submitted as jobs at once and sent on to the provider. The limits are set to
// the highest allowed values.
import { request } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { startPostgresServer } from "../../test/harness/postgres/postgres-server.ts";
import { submitUpload, waitForJob } from "./job-api.ts";
import { memoryOf } from "../cost.ts";
import { KEY, startPatchbay, startStandIn } from "../measure/processes.ts";
import { type Report, round } from "../measure/report.ts";
import { mebibytes } from "../measure/sizes.ts";
import { formAround, noiseWav, SEED } from "../upstream/wav.ts";

export interface JobUploadsBench {
  readonly uploads: number;
  readonly sizeBytes: number;
}

const SAMPLE_RATE_AT = 24;
const RIFF_SIZE_AT = 4;
const DATA_SIZE_AT = 40;
const HEADER_BYTES = 44;
/** Mono, 16 bits: 500 MiB are three hours. */
const SAMPLE_RATE = 24_000;
const LIMIT_BYTES = 512 * 1_048_576;

export async function benchJobUploads({ uploads, sizeBytes }: JobUploadsBench): Promise<Report> {
  const postgres = await startPostgresServer();
  try {
    await using standIn = await startStandIn();
    await using gateway = await startPatchbay({
      providerUrl: standIn.origin,
      databaseUrl: postgres.url,
      limits: { max_job_audio_bytes: sizeBytes },
    });
    // One small job first: modules loaded on first use do not count as memory of uploads.
    await waitForJob(gateway.origin, KEY, await submitUpload(gateway.origin, KEY, noiseWav(64_044)));
    const idleBytes = memoryOf(gateway.pid).rssBytes;
    const startedMs = performance.now();
    const jobIds = await Promise.all(Array.from({ length: uploads }, () => submitLarge(gateway.origin, sizeBytes)));
    const acceptedSeconds = (performance.now() - startedMs) / 1000;
    const acceptedPeakBytes = memoryOf(gateway.pid).peakBytes;
    const jobs = await Promise.all(jobIds.map((jobId) => waitForJob(gateway.origin, KEY, jobId)));
    const seconds = (performance.now() - startedMs) / 1000;
    const { peakBytes } = memoryOf(gateway.pid);
    const succeeded = jobs.filter((job) => job.status === "succeeded").length;
    const holds = succeeded === uploads && peakBytes - idleBytes <= LIMIT_BYTES;
    if (!holds) process.exitCode = 1;
    return {
      name: "job-uploads",
      rows: [
        {
          uploads,
          each: mebibytes(sizeBytes),
          succeeded,
          "idle RSS": mebibytes(idleBytes),
          "peak until accepted": mebibytes(acceptedPeakBytes),
          "peak until finished": mebibytes(peakBytes),
          grown: mebibytes(peakBytes - idleBytes),
          limit: mebibytes(LIMIT_BYTES),
          "accepted s": round(acceptedSeconds, 1),
          "finished s": round(seconds, 1),
          verdict: holds ? "holds" : "FAILS",
        },
      ],
      notes: ["the peak is the kernel's VmHWM of the one process that serves and works"],
      data: {
        engine: "postgres",
        n: uploads,
        sizeBytes,
        seed: SEED,
        statuses: jobs.map((job) => job.status),
        idleBytes,
        acceptedPeakBytes,
        peakBytes,
        acceptedSeconds: round(acceptedSeconds, 2),
        seconds: round(seconds, 2),
        holds,
      },
    };
  } finally {
    await postgres.stop();
  }
}

/** The recording is generated while it is sent: repeated blocks of noise after a header with the length. */
async function submitLarge(origin: string, sizeBytes: number): Promise<string> {
  const block = noiseWav(1_048_576 + HEADER_BYTES);
  const header = Buffer.from(block.subarray(0, HEADER_BYTES));
  header.writeUInt32LE(sizeBytes - 8, RIFF_SIZE_AT);
  header.writeUInt32LE(SAMPLE_RATE, SAMPLE_RATE_AT);
  header.writeUInt32LE(SAMPLE_RATE * 2, SAMPLE_RATE_AT + 4);
  header.writeUInt32LE(sizeBytes - HEADER_BYTES, DATA_SIZE_AT);
  const noise = block.subarray(HEADER_BYTES);
  const { contentType, body: frame } = formAround(header);
  const split = frame.indexOf(header) + header.length;
  function* pieces(): Generator<Buffer> {
    yield frame.subarray(0, split);
    for (let rest = sizeBytes - HEADER_BYTES; rest > 0; rest -= noise.length) yield noise.subarray(0, rest);
    yield frame.subarray(split);
  }
  const call = request(`${origin}/v1/transcription/jobs`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${KEY}`,
      "content-type": contentType,
      "content-length": frame.length + sizeBytes - HEADER_BYTES,
    },
  });
  const answer = new Promise<{ status: number; text: string }>((resolve, reject) => {
    call.once("error", reject);
    call.once("response", (response) => {
      let text = "";
      response.on("data", (chunk: Buffer) => (text += chunk.toString()));
      response.once("end", () => resolve({ status: response.statusCode ?? 0, text }));
      response.once("error", reject);
    });
  });
  // A refusal ends the upload early; the answer contains the reason.
  await pipeline(Readable.from(pieces()), call).catch(() => undefined);
  const { status, text } = await answer;
  if (status !== 202) throw new Error(`${status} ${text}`);
  return (JSON.parse(text) as { job_id: string }).job_id;
}
