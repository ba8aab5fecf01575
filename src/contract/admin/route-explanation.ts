// Schemas and endpoints for POST …/explain: a dry run that shows where a request would be routed, and why, by the published version or a draft
// [admin.explain].
import { z } from "zod";
import { json, time } from "./admin.ts";
import { AUDIO_FORMATS } from "../transcription/audio-formats.ts";
import { realtimeStart } from "../transcription/realtime.ts";
import { recordedAttempt, recordedOptions, recordedPurpose } from "../requests.ts";
import { mirrorForAllOwners } from "../endpoints/owner-endpoints.ts";
import { retirement, routingDecision } from "../transcription/transcription-envelope.ts";

export const EXPLAINED_TASKS = ["transcribe", "translate", "realtime", "chat"] as const;

/** One month: no measured recording is longer. */
const MOST_SECONDS = 2_678_400;

/** The database cannot compare the character U+0000. */
const NAME = z
  .string()
  .min(1)
  .max(200)
  .refine((text) => !text.includes("\0"), "Text must not contain the character U+0000.");

const recording = z.strictObject({
  format: z.enum(AUDIO_FORMATS).default("wav"),
  duration_seconds: z.number().positive().max(MOST_SECONDS),
  channels: z.int().min(1).max(255).default(1),
  bytes: z
    .int()
    .min(1)
    .max(Number.MAX_SAFE_INTEGER)
    .describe("Size in bytes. Default: that of 16-bit samples at 16 kHz for wav, and of 128 kbit/s for other formats.")
    .optional(),
  codec: z
    .string()
    .regex(/^[\w.-]{1,40}$/u, "1 to 40 letters, digits, . _ or -")
    .describe("Default: the usual codec of the format; for wav 16-bit samples.")
    .optional(),
  sample_rate: z.int().min(1).max(10_000_000).optional(),
});

export const explanationRequest = z.strictObject({
  app: NAME.describe(
    "App that makes the request: slug or id; on the operator's path its id or `workspace/app`. It has no key settings.",
  ).optional(),
  key_id: NAME.describe("Key that makes the request: its own settings take precedence over its app's.").optional(),
  test_mode: z
    .boolean()
    .describe("As with a test key, which the sandbox answers. Only with `app`: a key has its own mode.")
    .optional(),
  task: z.enum(EXPLAINED_TASKS).default("transcribe").describe("`realtime`: live audio over a WebSocket."),
  fields: z
    .record(z.string(), z.unknown())
    .default({})
    .describe(
      "Other fields of the request, without its audio, as accepted by its endpoint: `diarization`, `purpose`, `mode`… For a chat, `messages` is optional; the default is one short text.",
    ),
  recording: recording
    .describe("Absent: unknown, like for a job's URL; checks that depend on it are skipped.")
    .optional(),
  encoding: realtimeStart.shape.encoding.describe("Of live audio. Default: `pcm_s16le`.").optional(),
  route: NAME.describe(
    "Route with the draft that is compared with the live version. Default: the route of this request.",
  ).optional(),
  version: z.int().min(1).max(2_147_483_647).describe("Version to compare instead of the draft.").optional(),
});
export type ExplanationRequest = z.infer<typeof explanationRequest>;

/** Printed by `patchbay route explain`. */
export const routeTrace = z.strictObject({
  object: z.literal("route_trace"),
  asked: recordedOptions.nullable(),
  purpose: recordedPurpose.nullable(),
  route: z.string().nullable().describe("Route of the request. Null: its purpose was refused."),
  route_version: z.int().nullable(),
  refusal: z.string().nullable().describe("Why routing refuses it. Null: it is routed."),
  candidates: z
    .array(
      z.strictObject({
        position: z.int().min(1),
        connection: z.string(),
        provider: z.string(),
        model: z.string(),
        missing: z
          .array(z.string())
          .describe("What it lacks; `audio_input`, `chat` or `profile` if it was not checked further."),
        healthy: z.boolean().nullable().describe("Null: not checked."),
        paused_until: time.describe("Present if it is paused manually.").optional(),
        retired: retirement.optional(),
      }),
    )
    .nullable()
    .describe("All targets of the route, in order."),
  calls: z
    .array(recordedAttempt)
    .describe("Provider calls of a recorded request (`patchbay route explain --request`). Absent for a dry run.")
    .optional(),
});
export type RouteTraceView = z.infer<typeof routeTrace>;

export const judgedRequest = z.strictObject({
  trace: routeTrace.describe("Content of the request's record."),
  decision: routingDecision.describe("Answer of `dry_run`, with names, cost, budgets and quotas."),
});
export type JudgedRequest = z.infer<typeof judgedRequest>;

export const routeExplanation = z.strictObject({
  object: z.literal("route_explanation"),
  live: judgedRequest.describe("Result with the live version."),
  compared: z
    .strictObject({ route: z.string(), version: z.int(), state: z.enum(["draft", "live", "retired"]) })
    .nullable()
    .describe("The compared version. Null: the route has no draft, or belongs to another owner."),
  draft: judgedRequest.nullable().describe("Result if that version were published. Null together with `compared`."),
});
export type RouteExplanation = z.infer<typeof routeExplanation>;

export const explainContracts = mirrorForAllOwners({
  method: "POST",
  path: "/explain",
  operationId: "explainRequest",
  summary: "Explain where a request would be routed",
  description:
    "Decides with the same function as a real request: once with the live version, and once with a draft in its place. No audio is sent, no provider called, nothing reserved, charged or recorded. Budgets, quotas and provider health are the current ones, in the process that answers. Checks before routing (the key's scopes, concurrent requests) are skipped. A workspace's administrators can name their own apps, keys and routes.",
  requestBody: { json: explanationRequest },
  responses: { 200: json("The decisions.", routeExplanation) },
  errors: ["NOT_FOUND", "AUDIO_TOO_LONG", "AUDIO_TOO_LARGE", "BODY_TOO_LARGE", "ROUTE_CONTROL_FIELD_REJECTED"],
});
