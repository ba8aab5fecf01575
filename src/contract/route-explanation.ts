// POST …/explain: where a request would go, and why, by the live version and by a draft, without a call [admin.explain].
import { z } from "zod";
import { json, time } from "./admin.ts";
import { AUDIO_FORMATS } from "./audio-formats.ts";
import { realtimeStart } from "./realtime.ts";
import { recordedAsked, recordedPurpose } from "./requests.ts";
import { everywhere } from "./set-up/everywhere.ts";
import { routingDecision } from "./transcription.ts";

export const EXPLAINED_TASKS = ["transcribe", "translate", "realtime", "chat"] as const;

/** A month: no recording that anybody measures is longer. */
const MOST_SECONDS = 2_678_400;

const recording = z.strictObject({
  format: z.enum(AUDIO_FORMATS).default("wav"),
  duration_seconds: z.number().positive().max(MOST_SECONDS),
  channels: z.int().min(1).max(255).default(1),
  bytes: z
    .int()
    .min(1)
    .max(Number.MAX_SAFE_INTEGER)
    .describe("Its size. Unless given: as of 16-bit samples, 16,000 a second, of a wav, and of 128 kbit/s of others.")
    .optional(),
  codec: z
    .string()
    .regex(/^[\w.-]{1,40}$/u, "1 to 40 letters, digits, . _ or -")
    .describe("Unless given: the usual one of the format, of a wav 16-bit samples.")
    .optional(),
  sample_rate: z.int().min(1).max(10_000_000).optional(),
});

export const explanationRequest = z.strictObject({
  app: z
    .string()
    .min(1)
    .max(200)
    .describe(
      "Whose request it would be: an app's slug or id; on the platform's path its id or `workspace/app`. It has no settings of a key.",
    )
    .optional(),
  key_id: z.string().min(1).max(200).describe("The same by a key: its own settings stand over its app's.").optional(),
  test_mode: z
    .boolean()
    .describe("As with a test key, which the sandbox answers. Beside `app` alone: a key says it itself.")
    .optional(),
  task: z.enum(EXPLAINED_TASKS).default("transcribe").describe("`realtime`: live audio over a WebSocket."),
  fields: z
    .record(z.string(), z.unknown())
    .default({})
    .describe(
      "What the request would hold besides its audio, as its own endpoint takes it: `diarization`, `purpose`, `mode`… Of a chat its `messages` may be left out; they are then one short text.",
    ),
  recording: recording
    .describe("Absent: nothing is known of it, as of a job's URL, and what depends on it is not judged.")
    .optional(),
  encoding: realtimeStart.shape.encoding.describe("Of live audio; `pcm_s16le` unless given.").optional(),
  route: z
    .string()
    .min(1)
    .max(200)
    .describe("The route whose draft is judged beside what serves. Unless given: the one that serves this request.")
    .optional(),
  version: z.int().min(1).max(2_147_483_647).describe("Another version of it than its draft.").optional(),
});
export type ExplanationRequest = z.infer<typeof explanationRequest>;

/** As `patchbay route explain` prints it. */
export const routeTrace = z.strictObject({
  object: z.literal("route_trace"),
  asked: recordedAsked.nullable(),
  purpose: recordedPurpose.nullable(),
  route: z.string().nullable().describe("The route that the request ran on; null: its purpose was refused."),
  route_version: z.int().nullable(),
  refusal: z.string().nullable().describe("Why its routing refuses it; null: it is routed."),
  candidates: z
    .array(
      z.strictObject({
        position: z.int().min(1),
        connection: z.string(),
        provider: z.string(),
        model: z.string(),
        missing: z
          .array(z.string())
          .describe("What it lacks; `audio_input`, `chat` or `profile` for a target that was not even judged."),
        healthy: z.boolean().nullable().describe("Null where it was not looked at."),
        paused_until: time.describe("There where it is paused by hand.").optional(),
      }),
    )
    .nullable()
    .describe("Every target of the route, in its order."),
});
export type RouteTraceView = z.infer<typeof routeTrace>;

const judged = z.strictObject({
  trace: routeTrace.describe("What the record of the request would hold."),
  decision: routingDecision.describe("What `dry_run` would answer, with names: the cost, budgets and quotas too."),
});
export type JudgedRequest = z.infer<typeof judged>;

export const routeExplanation = z.strictObject({
  object: z.literal("route_explanation"),
  live: judged.describe("By what serves now."),
  compared: z
    .strictObject({ route: z.string(), version: z.int(), state: z.enum(["draft", "live", "retired"]) })
    .nullable()
    .describe("What `draft` was judged by; null: the route has no draft, or is not one of whoever asks."),
  draft: judged.nullable().describe("As it would be if that version served; null with `compared`."),
});
export type RouteExplanation = z.infer<typeof routeExplanation>;

export const explainContracts = everywhere({
  method: "POST",
  path: "/explain",
  operationId: "explainRequest",
  summary: "Where a request would go, and why",
  description:
    "Decides as the gateway does for a real request, by the same function: with what serves, and with a draft in its place. No audio is sent, no provider called, nothing reserved, charged or recorded. Budgets, quotas and the health of providers are those of now, on the process that answers. What is judged before a request's routing (its key's scopes, how many requests at once) is not judged here. A workspace's administrators name their own apps, keys and routes.",
  requestBody: { json: explanationRequest },
  responses: { 200: json("The decisions.", routeExplanation) },
  errors: ["NOT_FOUND", "AUDIO_TOO_LONG", "AUDIO_TOO_LARGE", "BODY_TOO_LARGE", "ROUTE_CONTROL_FIELD_REJECTED"],
});
