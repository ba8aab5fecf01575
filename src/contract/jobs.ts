// Request and response schemas of transcription jobs: the fields of a submission, and the answer of a poll [jobs.fields].
import { z } from "zod";
import type { ResponseContract } from "./endpoints/endpoint.ts";
import { LOCATION, REPLAYED } from "./endpoints/response-names.ts";
import { ERRORS, type ErrorCode } from "./errors.ts";
import { audioMember, translationFields } from "./transcription/transcription-fields.ts";
import { purposeFields, transcriptionEnvelope } from "./transcription/transcription-envelope.ts";

const METADATA_PAIRS = 16;

/** The fields of a transcription, except those about the transport of the answer: a job's answer is fetched. */
export const jobFields = translationFields.omit({ mode: true, stream: true }).extend({
  task: z.enum(["transcribe", "translate"]).describe("Kind of work. Default: `transcribe`.").optional(),
  metadata: z
    .record(z.string().min(1).max(64), z.string().max(512), {
      error: ({ code }) => (code === "invalid_key" ? "a name is 1 to 64 characters" : undefined),
    })
    .refine((pairs) => Object.keys(pairs).length <= METADATA_PAIRS, `at most ${METADATA_PAIRS} pairs`)
    .refine((pairs) => !Object.entries(pairs).flat().join("").includes("\0"), "no text holds the character U+0000")
    .describe("Up to 16 strings of the caller, returned with the job and never forwarded.")
    .optional(),
});

export type JobRequestFields = z.infer<typeof jobFields>;

export const jobRequest = jobFields.extend({ audio: audioMember });

export const JOB_STATUSES = ["queued", "processing", "succeeded", "failed", "cancelled"] as const;
export type JobStatus = (typeof JOB_STATUSES)[number];
export const jobStatus = z.enum(JOB_STATUSES);
const JOB_STAGES = ["queued", "fetching", "measuring", "transcribing", "storing", "done"] as const;

/** Errors that only a job can end with; all others are in the catalogue. */
export const JOB_ONLY_ERRORS = ["JOB_DEADLINE_EXCEEDED", "ATTEMPTS_EXHAUSTED"] as const;
export type JobOnlyErrorCode = (typeof JOB_ONLY_ERRORS)[number];
export type JobErrorCode = ErrorCode | JobOnlyErrorCode;

export const jobError = z.strictObject({
  code: z
    .enum([...(Object.keys(ERRORS) as ErrorCode[]), ...JOB_ONLY_ERRORS])
    .describe(
      "A code of the error catalogue; or `JOB_DEADLINE_EXCEEDED`: the job did not end in time; or `ATTEMPTS_EXHAUSTED`: all attempts failed. Neither is charged.",
    ),
  type: z.string(),
  message: z.string(),
  param: z.string().nullable(),
  retryable: z.boolean().describe("Whether a new submission may succeed."),
  details: z.record(z.string(), z.unknown()).nullable(),
});
export type JobError = z.infer<typeof jobError>;

/** The answer to a submission. */
export const submittedJob = z.strictObject({
  object: z.literal("transcription.job"),
  job_id: z.string(),
  status: z.literal("queued"),
  poll_url: z.string().describe("Relative path of the job."),
  created_at: z.string(),
});
export type SubmittedJob = z.infer<typeof submittedJob>;

/** Also the answer of a synchronous endpoint to `mode: async`. */
export const acceptedJob = {
  description: "The job is durable and will be processed. A replayed key returns this first answer again.",
  content: { "application/json": submittedJob },
  headers: {
    ...LOCATION,
    "Retry-After": "Recommended seconds before the first poll.",
    ...REPLAYED,
  },
} as const satisfies ResponseContract;

/** Of the recording of a job or request. */
export const providerDeletion = z
  .enum(["none", "pending", "done", "failed"])
  .describe("Whether the provider's stored copy is deleted.");

export const jobProgress = z.strictObject({
  stage: z.enum(JOB_STAGES),
  fraction: z.number().min(0).max(1).nullable(),
});

export const job = z.strictObject({
  object: z.literal("transcription.job"),
  job_id: z.string(),
  status: jobStatus,
  poll_url: z.string(),
  created_at: z.string(),
  started_at: z.string().nullable(),
  finished_at: z.string().nullable(),
  expires_at: z.string().nullable().describe("When the result is deleted. Null until the job has ended."),
  cancel_requested: z.boolean(),
  attempts: z.int().min(0).describe("Number of times that a worker claimed the job."),
  progress: jobProgress,
  metadata: z.record(z.string(), z.string()),
  result: transcriptionEnvelope.nullable().describe("The transcript, if it is small enough to be included."),
  result_url: z.string().nullable().describe("Address of a larger result, valid without a key for a short time."),
  result_expired: z.boolean().describe("Whether the result was deleted."),
  error: jobError.nullable(),
  usage: transcriptionEnvelope.shape.usage.nullable(),
  provider_deletion: providerDeletion,
  simulated: z
    .boolean()
    .describe(
      "The job runs or ran on the sandbox: nothing is recognised or charged. Until it has ended, a fallback can still move it to another target.",
    ),
  ...purposeFields.shape,
});
export type Job = z.infer<typeof job>;

export const jobList = z.strictObject({
  object: z.literal("list"),
  data: z.array(job),
  has_more: z.boolean(),
  next_cursor: z.string().nullable(),
});
export type JobList = z.infer<typeof jobList>;

export const EXPORT_FORMATS = ["srt", "vtt", "text", "verbose_json"] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

export const jobQuery = z.strictObject({
  wait: z.int().min(0).max(60).describe("Seconds to wait for the job's end, 0 to 60.").optional(),
  format: z.enum(EXPORT_FORMATS).describe("The result of a succeeded job in another format, at no cost.").optional(),
});

export const jobListQuery = z.strictObject({
  status: jobStatus.describe("Only jobs in this state.").optional(),
  limit: z.int().min(1).max(100).default(20).describe("Jobs per page, 1 to 100."),
  cursor: z
    .string()
    .regex(/^job_[0-9a-z]{26}$/u, "`next_cursor` of the page before")
    .describe("`next_cursor` of the previous page.")
    .optional(),
});
