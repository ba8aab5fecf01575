// Response schemas of GET /v1/me [keys.me] and GET /v1/melimits [configuration.limits]: what a key can read about itself.
import { z } from "zod";
import { CAPABILITIES } from "./features.ts";
import { PERIODS } from "./settings/app.ts";
import { PURPOSE_POLICY } from "./transcription/transcription-fields.ts";

export const purposeEntry = z.strictObject({
  purpose: z.string().describe("The label to send."),
  description: z.string(),
  is_enabled: z.boolean(),
});

const CONTEXTS = ["default", "audio_input"] as const;

/** A label may apply to one context only. */
export const publishedPurpose = purposeEntry.extend({
  is_enabled: z.boolean().describe("Can be sent in at least one of `contexts`."),
  contexts: z
    .array(z.enum(CONTEXTS))
    .describe(
      "Where it is enabled and its route has a model for that kind of request; elsewhere a request falls back.",
    ),
});

const featureSummary = z
  .record(z.string(), z.boolean())
  .describe("What a request can require: true if at least one target of the route supports it.");

/** A target by its place in the route. */
export const namedTarget = z.strictObject({
  position: z.int(),
  connection: z.string(),
  provider: z.string(),
  model: z.string(),
});

export const routingEntry = z.strictObject({
  context: z.enum(CONTEXTS),
  source: z.enum(["route", "capability_override"]).optional(),
  capabilities: z.array(z.enum(CAPABILITIES)),
  features: featureSummary,
  purposes: z.array(purposeEntry),
  targets: z.array(namedTarget).describe("Only with scope `routing:read`.").optional(),
});

export const keyDescription = z.strictObject({
  object: z.literal("key"),
  key: z.strictObject({
    id: z.string(),
    prefix: z.string(),
    last4: z.string(),
    name: z.string(),
    role: z.enum(["member", "admin", "operator"]),
    scopes: z.array(z.string()),
    created_at: z.string(),
    expires_at: z.string().nullable(),
  }),
  app: z.strictObject({ id: z.string(), name: z.string() }).nullable(),
  workspace: z.strictObject({ id: z.string(), slug: z.string() }),
  audio_purpose_policy: PURPOSE_POLICY,
  purposes: z.array(publishedPurpose).describe("Published purposes of every context, one per label."),
  routing_contexts: z.array(routingEntry),
});
export type KeyDescription = z.infer<typeof keyDescription>;

export type PublishedPurpose = z.infer<typeof publishedPurpose>;

const bytes = z.int().min(0);
const seconds = z.number().min(0);
export const quotaView = z.strictObject({
  requests_per_minute: z.int().nullable(),
  concurrent: z.int().nullable(),
  audio_seconds_per_hour: z.int().nullable(),
  tokens_per_minute: z.int().nullable(),
});

export const limitsReport = z.strictObject({
  object: z.literal("limits"),
  max_audio_bytes: bytes.describe("Multipart: bytes of the file part. JSON: bytes of the whole body."),
  max_audio_url_bytes: bytes,
  max_job_audio_bytes: bytes,
  max_job_audio_url_bytes: bytes,
  max_audio_duration_seconds: seconds,
  sync_idempotency_ttl_seconds: seconds,
  stt_job_result_ttl_seconds: seconds,
  stt_job_inline_result_bytes: bytes,
  result_url_ttl_seconds: seconds,
  sync_timeout_seconds: seconds,
  max_audio_url_redirects: z.int(),
  max_audio_url_domains: z.int(),
  max_chat_body_bytes: bytes,
  max_keyterms: z.int(),
  max_attempts_per_request: z.int(),
  url_fetches_per_minute: z.int(),
  webhook_max_attempts: z.int(),
  webhook_timeout_seconds: seconds,
  quotas: z.strictObject({ key: quotaView, app: quotaView.nullable() }),
  budgets: z.array(
    z.strictObject({
      period: z.enum(PERIODS),
      limit_usd: z.string().nullable(),
      remaining_usd: z.string().nullable(),
      limit_audio_seconds: z.number().nullable(),
      remaining_audio_seconds: z.number().nullable(),
      limit_tokens: z.int().nullable(),
      remaining_tokens: z
        .int()
        .nullable()
        .describe("What is neither spent nor reserved for calls in flight; each process reserves some in advance."),
      soft_limit: z.number().nullable().describe("Fraction of each limit at which a warning is due."),
      soft_limit_reached: z
        .boolean()
        .describe("Whether this fraction of a limit is spent. No request is refused for it."),
      resets_at: z.string().nullable(),
    }),
  ),
});
export type LimitsReport = z.infer<typeof limitsReport>;
