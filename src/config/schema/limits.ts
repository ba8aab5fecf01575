// The schema of the limits of GET /v1/melimits that an operator may set [configuration.limits], and of three limits of the job worker.
import { z } from "zod";
import { section } from "../../contract/settings/kit.ts";

const MAX_LONG_RECORDING_BYTES = 524_288_000;

export const limitsSection = section({
  max_audio_bytes: z
    .int()
    .min(1)
    .max(MAX_LONG_RECORDING_BYTES)
    .default(26_214_400)
    .describe("Largest audio of one synchronous request, in bytes."),
  max_audio_url_bytes: z
    .int()
    .min(1)
    .max(25_000_000)
    .default(25_000_000)
    .describe("Largest audio fetched from `audio.url`, in bytes."),
  max_job_audio_bytes: z
    .int()
    .min(1)
    .max(MAX_LONG_RECORDING_BYTES)
    .default(26_214_400)
    .describe("Largest uploaded audio of a job, in bytes."),
  max_job_audio_url_bytes: z
    .int()
    .min(1)
    .max(MAX_LONG_RECORDING_BYTES)
    .default(25_000_000)
    .describe("Largest audio a job fetches from `audio.url`, in bytes."),
  max_audio_duration_seconds: z.int().min(1).max(86_400).default(14_400).describe("Longest audio, in seconds."),
  sync_idempotency_ttl_seconds: z
    .int()
    .min(60)
    .max(604_800)
    .default(86_400)
    .describe("How long an `Idempotency-Key` of a synchronous request is kept."),
  stt_job_result_ttl_seconds: z
    .int()
    .min(60)
    .max(2_592_000)
    .default(259_200)
    .describe("How long a job's result is kept after the job ends."),
  stt_job_inline_result_bytes: z
    .int()
    .min(0)
    .max(16_777_216)
    .default(262_144)
    .describe("Results up to this size are included in the job; larger ones are at `result_url`."),
  result_url_ttl_seconds: z.int().min(1).max(86_400).default(900).describe("How long a `result_url` works."),
  sync_timeout_seconds: z
    .int()
    .min(1)
    .max(3_600)
    .default(300)
    .describe("Deadline of a synchronous request, from its first byte to its answer."),
  max_audio_url_redirects: z.int().min(0).max(10).default(3).describe("Redirects followed while fetching `audio.url`."),
  url_fetches_per_minute: z
    .int()
    .min(1)
    .max(1_000_000)
    .default(120)
    .describe("Fetches of `audio.url` per minute and app; jobs wait for a free slot."),
  max_audio_url_domains: z
    .int()
    .min(0)
    .max(20)
    .default(20)
    .describe("Domains on a workspace's allowlist for `audio.url`."),
  max_chat_body_bytes: z
    .int()
    .min(1024)
    .max(104_857_600)
    .default(20_971_520)
    .describe("Largest body of a chat request, in bytes."),
  reply_memory_bytes: z
    .int()
    .min(33_554_432)
    .max(17_179_869_184)
    .default(268_435_456)
    .describe(
      "Memory of one process for replies of providers that are being read or answered from, in bytes. One workspace uses at most three quarters of it.",
    ),
  max_keyterms: z.int().min(1).max(1000).default(1000).describe("Key terms in one request."),
  max_attempts_per_request: z
    .int()
    .min(1)
    .max(20)
    .default(5)
    .describe("Maximum targets tried for one request, or for all attempts of a job."),
  webhook_max_attempts: z.int().min(1).max(8).default(8).describe("Deliveries tried for one webhook event."),
  webhook_timeout_seconds: z
    .int()
    .min(1)
    .max(60)
    .default(15)
    .describe("How long a webhook receiver may take to answer."),
  job_deadline_seconds: z
    .int()
    .min(60)
    .max(604_800)
    .default(21_600)
    .describe("A job not finished this long after its submission fails."),
  job_concurrency: z
    .int()
    .min(1)
    .max(256)
    .default(32)
    .describe("Concurrent jobs per process, from their claim to the end of their last call."),
  worker_grace_seconds: z
    .int()
    .min(0)
    .max(86_400)
    .default(900)
    .describe("How long a stopping worker may finish calls in progress."),
});
