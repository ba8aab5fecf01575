// Jobs as callers see them: what is submitted, and what a poll shows [jobs.fields].
import { z } from "zod";
import type { ResponseContract } from "./endpoint.ts";
import { ERRORS, type ErrorCode } from "./errors.ts";
import { audioMember, purposeFields, transcriptionEnvelope, translationFields } from "./transcription.ts";

const METADATA_PAIRS = 16;

/** The fields of a transcription, but how its answer comes: a job's is fetched. */
export const jobFields = translationFields.omit({ mode: true, stream: true }).extend({
  task: z.enum(["transcribe", "translate"]).describe("What to do; `transcribe` unless set.").optional(),
  metadata: z
    .record(z.string().min(1).max(64), z.string().max(512), {
      error: ({ code }) => (code === "invalid_key" ? "a name is 1 to 64 characters" : undefined),
    })
    .refine((pairs) => Object.keys(pairs).length <= METADATA_PAIRS, `at most ${METADATA_PAIRS} pairs`)
    .refine((pairs) => !Object.entries(pairs).flat().join("").includes("\0"), "no text holds the character U+0000")
    .describe("Up to 16 strings of your own, given back with the job and never sent on.")
    .optional(),
});

export type JobRequestFields = z.infer<typeof jobFields>;

export const jobRequest = jobFields.extend({ audio: audioMember });

export const JOB_STATUSES = ["queued", "processing", "succeeded", "failed", "cancelled"] as const;
export type JobStatus = (typeof JOB_STATUSES)[number];
const JOB_STAGES = ["queued", "fetching", "measuring", "transcribing", "storing", "done"] as const;

/** What only a job can end with; everything else is an error of the catalogue. */
export const JOB_ONLY_ERRORS = {
  JOB_DEADLINE_EXCEEDED:
    "The job did not end before its deadline (6 h unless the operator set another), in the queue or between calls; with a call in flight it is `PROVIDER_RESULT_UNKNOWN`. Not charged. Submit it again under a new key.",
  ATTEMPTS_EXHAUSTED:
    "The job was taken up again and again and never came to an end: something stops its workers. Not charged. Submit it again under a new key; if it comes back, tell the operator the job's id.",
} as const;
type JobOnlyErrorCode = keyof typeof JOB_ONLY_ERRORS;
export type JobErrorCode = ErrorCode | JobOnlyErrorCode;

const jobError = z.strictObject({
  code: z
    .enum([...(Object.keys(ERRORS) as ErrorCode[]), ...(Object.keys(JOB_ONLY_ERRORS) as JobOnlyErrorCode[])])
    .describe(
      "A code of the error catalogue; or `JOB_DEADLINE_EXCEEDED`, the job did not end in time; or `ATTEMPTS_EXHAUSTED`, no attempt brought it to an end. Neither is charged.",
    ),
  type: z.string(),
  message: z.string(),
  param: z.string().nullable(),
  retryable: z.boolean().describe("Whether submitting it again may help."),
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
  description: "The job is durable and will be worked on. A replayed key gives this first answer again.",
  content: { "application/json": submittedJob },
  headers: {
    Location: "Where to poll.",
    "Retry-After": "Seconds until a first poll is worth while.",
    "X-SVC-Idempotent-Replay": "`true` on a replayed answer.",
  },
} as const satisfies ResponseContract;

/** Of a job's recording, or a request's. */
export const providerDeletion = z
  .enum(["none", "pending", "done", "failed"])
  .describe("Whether what the provider kept of it is deleted.");

export const job = z.strictObject({
  object: z.literal("transcription.job"),
  job_id: z.string(),
  status: z.enum(JOB_STATUSES),
  poll_url: z.string(),
  created_at: z.string(),
  started_at: z.string().nullable(),
  finished_at: z.string().nullable(),
  expires_at: z.string().nullable().describe("When the result is deleted; null until the job has ended."),
  cancel_requested: z.boolean(),
  attempts: z.int().min(0).describe("How often a worker took the job up."),
  progress: z.strictObject({ stage: z.enum(JOB_STAGES), fraction: z.number().min(0).max(1).nullable() }),
  metadata: z.record(z.string(), z.string()),
  result: transcriptionEnvelope.nullable().describe("The transcript, when it is small enough to stand here."),
  result_url: z.string().nullable().describe("Where a larger one is fetched, without a key, for a short while."),
  result_expired: z.boolean().describe("True once the result was deleted."),
  error: jobError.nullable(),
  usage: transcriptionEnvelope.shape.usage.nullable(),
  provider_deletion: providerDeletion,
  simulated: z
    .boolean()
    .describe(
      "The sandbox served it, or is to serve it: nothing of it is recognised, nor charged. Until it has ended, a target that fails can still hand it to another.",
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
  wait: z.int().min(0).max(60).describe("Seconds to wait for the end of the job, 0 to 60.").optional(),
  format: z.enum(EXPORT_FORMATS).describe("The result of a succeeded job in another form, at no cost.").optional(),
});

export const jobListQuery = z.strictObject({
  status: z.enum(JOB_STATUSES).describe("Only jobs in this state.").optional(),
  limit: z.int().min(1).max(100).default(20).describe("Jobs on a page, 1 to 100."),
  cursor: z
    .string()
    .regex(/^job_[0-9a-z]{26}$/u, "`next_cursor` of the page before")
    .describe("`next_cursor` of the page before.")
    .optional(),
});
