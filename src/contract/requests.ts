// Schemas and endpoint of the record of one request: what was requested, why each target was used or skipped, and its cost [requests.contents].
import { z } from "zod";
import { BILLING_CLASSES } from "./billing-class.ts";
import type { EndpointContract } from "./endpoints/endpoint.ts";
import { CAPABILITIES } from "./features.ts";
import { jobStatus, providerDeletion } from "./jobs.ts";
import { PURPOSE_POLICY } from "./transcription/transcription-fields.ts";
import { engineRuntime, localModelFile, pausedUntil, retirement } from "./transcription/transcription-envelope.ts";

const usd = z.string().describe("US dollars, exact.");
const seconds = z.number().min(0);
const NAMES = "Only with scope `routing:read`.";
const ADMINISTRATORS = "For administrators and the operator.";
const ADMIN = "Only for administrators. Null for a request without a valid key.";
const names = {
  connection: z.string().describe(NAMES).optional(),
  provider: z.string().describe(NAMES).optional(),
  model: z.string().describe(NAMES).optional(),
};

export const recordedPurpose = z.strictObject({
  requested: z.string().nullable().describe("As sent; `(not a label)` for text that is not a valid label."),
  applied: z.string().nullable(),
  source: z.string(),
  policy: PURPOSE_POLICY.nullable().describe("The applied purpose."),
  reason: z.string().nullable().describe("Why it was not applied."),
});

export const recordedOptions = z.strictObject({
  capability: z.enum(CAPABILITIES),
  features: z.array(z.string()),
  preferences: z.array(z.string()),
  profile: z.string().nullable(),
  stream: z.boolean(),
  dry_run: z.boolean(),
});

export const recordedCandidate = z.strictObject({
  position: z.int().min(1),
  eligible: z.boolean(),
  missing: z
    .array(z.string())
    .describe(
      "What it lacked; `audio_input`, `chat` or `profile` if it was not checked further. Empty: it could serve.",
    ),
  health: z.enum(["healthy", "resting"]).nullable().describe("When the decision was made. Null: not checked."),
  paused_until: pausedUntil,
  retired: retirement.optional(),
  outcome: z
    .enum(["served", "failed", "called", "not_reached", "left"])
    .describe(
      "`left`: skipped, because it lacked something or was unavailable. `not_reached`: the request ended before its turn. `called`: the call is in flight.",
    ),
  ...names,
});

export const recordedAttempt = z.strictObject({
  id: z.string(),
  position: z.int().min(1),
  created_at: z.string(),
  finished_at: z.string().nullable().describe("Null while it is in flight."),
  outcome: z
    .string()
    .nullable()
    .describe("`succeeded`, `failed:<kind>`, `unknown` or `aborted`. Null while it is in flight."),
  unresolved: z.boolean().describe("True if a crash left its outcome open, and the sweep ended it."),
  billing_class: z.enum(BILLING_CLASSES),
  charge_usd: usd.nullable().describe("Charge of the app. Null while it is in flight."),
  estimate_usd: usd.nullable().describe("List price. Null: unknown."),
  audio_seconds: seconds,
  billable_audio_seconds: seconds,
  provider_audio_seconds: seconds.nullable().describe("Price reported by the provider, never charged."),
  input_tokens: z.int().min(0).nullable(),
  output_tokens: z.int().min(0).nullable(),
  usage_source: z.enum(["reported", "estimated"]).nullable(),
  receipts: z
    .array(
      z.strictObject({
        feature: z.string(),
        grade: z.string(),
        delivered: z.boolean(),
        answered: z
          .string()
          .describe(`Of \`model\`: the model that the answer reports. The one asked is \`model\` of the call. ${NAMES}`)
          .optional(),
        model: z
          .strictObject({
            name: z.string(),
            files: z.array(localModelFile),
            ...engineRuntime,
          })
          .describe(`For \`model\`, of a model on the gateway's machine: what determines the text. ${NAMES}`)
          .optional(),
      }),
    )
    .describe(
      "Receipts: proof that required features were delivered, and which model answered (grades: `shown`, `echoed`, `sent`). `model` that was not delivered is an answer by another model.",
    ),
  provider_error: z
    .strictObject({
      status: z.int().describe("HTTP status of its answer."),
      code: z.string().nullable().describe("The provider's own code."),
      request_id: z.string().nullable().describe(`The provider's id of the call. ${ADMINISTRATORS}`).optional(),
      message: z
        .string()
        .max(500)
        .nullable()
        .describe(`The provider's error text, without secrets and cut at 500 characters. ${ADMINISTRATORS}`)
        .optional(),
    })
    .nullable()
    .describe(`The provider's own reason for refusing the call. Null: not refused. ${NAMES}`)
    .optional(),
  provider_request_id: z.string().nullable().describe(NAMES).optional(),
  ...names,
});

export const requestRecord = z.strictObject({
  object: z.literal("request"),
  id: z.string(),
  workspace: z.string().nullable().describe(ADMIN).optional(),
  app: z.string().nullable().describe(ADMIN).optional(),
  key: z.string().nullable().describe(ADMIN).optional(),
  created_at: z.string(),
  endpoint: z.string(),
  status: z.int().describe("499: the caller disconnected before the answer."),
  code: z.string().nullable().describe("Error code of the refusal, or of the error that ended a stream."),
  summary: z.string().describe("One line for people; its wording may change."),
  test_mode: z.boolean(),
  duration_seconds: seconds,
  asked: recordedOptions.nullable(),
  purpose: recordedPurpose.nullable(),
  decision: z
    .strictObject({
      outcome: z.enum(["routed", "refused", "none"]),
      reason: z.string().nullable().describe("Why it was refused, or why no decision was made."),
    })
    .describe("`none`: the request ended before its routing."),
  route: z.string().nullable().describe(NAMES).optional(),
  route_version: z.int().min(1).nullable().describe(`Version of the route in force. ${NAMES}`).optional(),
  candidates: z.array(recordedCandidate).describe("All targets of the route, in order."),
  attempts: z.array(recordedAttempt).describe("All provider calls, including those of the job that it started."),
  idempotency: z.strictObject({
    key: z
      .enum(["not_sent", "unused", "first", "replayed", "reused", "in_progress", "unavailable"])
      .describe("`unused`: ignored here, or the request was refused before the key was used."),
    replayed: z.boolean(),
  }),
  usage: z.strictObject({
    audio_seconds: seconds.nullable().describe("As measured. Null: not measured."),
    billable_audio_seconds: seconds,
    input_tokens: z.int().min(0),
    output_tokens: z.int().min(0),
    charge_usd: usd.describe("Sum over its attempts."),
  }),
  job: z
    .strictObject({
      id: z.string(),
      status: jobStatus.nullable(),
      code: z.string().nullable(),
      candidates: z.array(recordedCandidate).describe("As its last worker checked them. Empty before it ran."),
    })
    .nullable()
    .describe("The job that it started. The job may be deleted before this record: then the status is null."),
  provider_deletion: providerDeletion,
});
export type RequestRecordView = z.infer<typeof requestRecord>;
export type RecordedCandidateView = z.infer<typeof recordedCandidate>;
export type RecordedAttemptView = z.infer<typeof recordedAttempt>;

export const getRequestContract: EndpointContract = {
  method: "GET",
  path: "/v1/requests/:request_id",
  operationId: "getRequest",
  summary: "Get a request with its routing",
  description:
    "The record of one request of the app: what was requested, every target with the reason why it was used or skipped, every call with its outcome and cost. Refused requests have one too. Available at once in the process that answered, in the others within 5 s; the id is the answer's `X-Request-Id`. It never contains audio, text or other contents.",
  auth: "key",
  responses: { 200: { description: "The record.", content: { "application/json": requestRecord } } },
  errors: ["FORBIDDEN", "NOT_FOUND"],
};
