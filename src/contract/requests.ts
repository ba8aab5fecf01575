// The record of one request: what was asked, why each target was used or skipped, what it cost [requests.contents].
import { z } from "zod";
import { BILLING_CLASSES } from "./billing-class.ts";
import type { EndpointContract } from "./endpoint.ts";
import { CAPABILITIES } from "./features.ts";
import { JOB_STATUSES, providerDeletion } from "./jobs.ts";
import { pausedUntil, PURPOSE_POLICY } from "./transcription.ts";

const usd = z.string().describe("US dollars, exact.");
const seconds = z.number().min(0);
const NAMES = "Only with scope `routing:read`.";
const ADMINISTRATORS = "For administrators and the operator.";
const ADMIN = "Only for administrators; null where the request came without a valid key.";
const names = {
  connection: z.string().describe(NAMES).optional(),
  provider: z.string().describe(NAMES).optional(),
  model: z.string().describe(NAMES).optional(),
};

export const recordedPurpose = z.strictObject({
  requested: z.string().nullable().describe("As sent; `(not a label)` for what no purpose can be called."),
  applied: z.string().nullable(),
  source: z.string(),
  policy: PURPOSE_POLICY.nullable().describe("The one in force."),
  reason: z.string().nullable().describe("Why it was not applied."),
});

export const recordedAsked = z.strictObject({
  capability: z.enum(CAPABILITIES),
  features: z.array(z.string()),
  preferences: z.array(z.string()),
  profile: z.string().nullable(),
  stream: z.boolean(),
  dry_run: z.boolean(),
});

const recordedCandidate = z.strictObject({
  position: z.int().min(1),
  eligible: z.boolean(),
  missing: z
    .array(z.string())
    .describe(
      "What it lacked; `audio_input`, `chat` or `profile` for a target that was not even judged. Empty: it could serve.",
    ),
  health: z.enum(["healthy", "resting"]).nullable().describe("When the decision was made; null where not looked at."),
  paused_until: pausedUntil,
  outcome: z
    .enum(["served", "failed", "called", "not_reached", "left"])
    .describe(
      "`left`: it lacked something or rested. `not_reached`: the request ended before its turn. `called`: the call is under way.",
    ),
  ...names,
});

const recordedAttempt = z.strictObject({
  id: z.string(),
  position: z.int().min(1),
  created_at: z.string(),
  finished_at: z.string().nullable().describe("Null while it is under way."),
  outcome: z
    .string()
    .nullable()
    .describe("`succeeded`, `failed:<kind>`, `unknown` or `aborted`; null while it is under way."),
  unresolved: z.boolean().describe("True when a crash left its outcome open, and the sweep ended it."),
  billing_class: z.enum(BILLING_CLASSES),
  charge_usd: usd.nullable().describe("What the app was charged; null while it is under way."),
  estimate_usd: usd.nullable().describe("The list price; null where it is unknown."),
  audio_seconds: seconds,
  billable_audio_seconds: seconds,
  provider_audio_seconds: seconds.nullable().describe("The provider's own figure, never charged."),
  input_tokens: z.int().min(0).nullable(),
  output_tokens: z.int().min(0).nullable(),
  usage_source: z.enum(["reported", "estimated"]).nullable(),
  receipts: z
    .array(z.strictObject({ feature: z.string(), grade: z.string(), delivered: z.boolean() }))
    .describe("Proof that what was asked came back (grades: `shown`, `echoed`, `sent`)."),
  provider_error: z
    .strictObject({
      status: z.int().describe("The HTTP status of its answer."),
      code: z.string().nullable().describe("The provider's own code."),
      request_id: z.string().nullable().describe(`The provider's id of the call. ${ADMINISTRATORS}`).optional(),
      message: z
        .string()
        .max(500)
        .nullable()
        .describe(`What the provider wrote, with secrets removed and cut at 500 characters. ${ADMINISTRATORS}`)
        .optional(),
    })
    .nullable()
    .describe(`Why the provider refused the call, in its own words; null where it did not. ${NAMES}`)
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
  status: z.int().describe("499: the caller hung up before the answer."),
  code: z.string().nullable().describe("Of the refusal, or of the error that ended a stream."),
  summary: z.string().describe("One line for people; its wording may change."),
  test_mode: z.boolean(),
  duration_seconds: seconds,
  asked: recordedAsked.nullable(),
  purpose: recordedPurpose.nullable(),
  decision: z
    .strictObject({
      outcome: z.enum(["routed", "refused", "none"]),
      reason: z.string().nullable().describe("Why it was refused, or why no decision was made."),
    })
    .describe("`none`: the request ended before its routing."),
  route: z.string().nullable().describe(NAMES).optional(),
  route_version: z.int().min(1).nullable().describe(`The version of the route that was in force. ${NAMES}`).optional(),
  candidates: z.array(recordedCandidate).describe("Every target of the route, in its order."),
  attempts: z.array(recordedAttempt).describe("Every call that was made, of the job it started too."),
  idempotency: z.strictObject({
    key: z
      .enum(["not_sent", "unused", "first", "replayed", "reused", "in_progress", "unavailable"])
      .describe("`unused`: ignored here, or refused before it counted."),
    replayed: z.boolean(),
  }),
  usage: z.strictObject({
    audio_seconds: seconds.nullable().describe("As measured; null where it was not."),
    billable_audio_seconds: seconds,
    input_tokens: z.int().min(0),
    output_tokens: z.int().min(0),
    charge_usd: usd.describe("The sum over its attempts."),
  }),
  job: z
    .strictObject({
      id: z.string(),
      status: z.enum(JOB_STATUSES).nullable(),
      code: z.string().nullable(),
      candidates: z.array(recordedCandidate).describe("As its last worker judged them; empty before it ran."),
    })
    .nullable()
    .describe("The job it started. Its row goes before its record may: then the status is null."),
  provider_deletion: providerDeletion,
});
export type RequestRecordView = z.infer<typeof requestRecord>;
export type RecordedCandidateView = z.infer<typeof recordedCandidate>;
export type RecordedAttemptView = z.infer<typeof recordedAttempt>;

export const getRequestContract: EndpointContract = {
  method: "GET",
  path: "/v1/requests/:request_id",
  operationId: "getRequest",
  summary: "Why a request went where it went",
  description:
    "The record of one request of the app: what was asked, every target with why it was taken or left, every call with its outcome and cost. Refused requests have one too. Readable right behind the answer on the process that gave it, on the others within 5 s; the id is the answer's `X-Request-Id`. It never holds what was said or sent.",
  auth: "key",
  responses: { 200: { description: "The record.", content: { "application/json": requestRecord } } },
  errors: ["FORBIDDEN", "NOT_FOUND"],
};
