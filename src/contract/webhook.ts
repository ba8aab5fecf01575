// Request and response schemas of the completion webhook: its settings, its deliveries, and the event itself [webhooks.payload].
import { z } from "zod";
import { pageFields, time } from "./admin/admin.ts";
import { MAX_URL_CHARACTERS } from "./settings/kit.ts";

export const webhookRequest = z.strictObject({
  url: z
    .string()
    .min(1)
    .max(MAX_URL_CHARACTERS)
    .describe("Address of the receiver: https, any port, a public address; no credentials and no fragment."),
  enabled: z.boolean().default(true).describe("Whether events are delivered."),
  rotate_secret: z
    .boolean()
    .default(false)
    .describe("Creates a new signing secret. For 24 hours deliveries are signed with the old one too."),
  revoke_previous: z
    .boolean()
    .default(false)
    .describe("Stops signing with the previous secret at once, for a leaked secret."),
});
export type WebhookRequest = z.output<typeof webhookRequest>;

const DISABLED_REASONS = ["owner", "gone", "failing"] as const;

export const webhookView = z.strictObject({
  object: z.literal("stt_webhook"),
  url: z.string(),
  enabled: z.boolean(),
  created_at: time,
  updated_at: time,
  secret: z.string().describe("The signing secret. Only in the answer that creates it.").optional(),
  secret_last4: z.string(),
  previous_secret_until: time.nullable().describe("Until when deliveries are also signed with the previous secret."),
  disabled_reason: z
    .enum(DISABLED_REASONS)
    .nullable()
    .describe(
      "`owner`: through this API. `gone`: the receiver answered 410. `failing`: only failures for five days. `PUT` with `enabled: true` enables it again.",
    ),
  disabled_at: time.nullable(),
  failing_since: time.nullable().describe("First failure since the last success."),
});
export type WebhookView = z.infer<typeof webhookView>;

export const webhookDeleted = z.strictObject({ object: z.literal("stt_webhook"), deleted: z.literal(true) });

const EVENT_STATUSES = ["succeeded", "failed", "cancelled"] as const;
export type EventStatus = (typeof EVENT_STATUSES)[number];

/** Exactly these four fields [webhooks.payload]. */
export const webhookEvent = z.strictObject({
  type: z.enum(["transcription.job.succeeded", "transcription.job.failed", "transcription.job.cancelled"]),
  job_id: z.string(),
  status: z.enum(EVENT_STATUSES),
  occurred_at: time,
});
export type WebhookEventBody = z.infer<typeof webhookEvent>;

export const DELIVERY_STATES = ["pending", "delivered", "failed"] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

const ATTEMPT_OUTCOMES = ["delivered", "http_status", "timeout", "connection", "tls", "address_not_allowed"] as const;
export type AttemptOutcome = (typeof ATTEMPT_OUTCOMES)[number];

export const attemptView = z.strictObject({
  number: z.int().min(1),
  started_at: time,
  outcome: z
    .enum(ATTEMPT_OUTCOMES)
    .describe("`http_status`: an answer other than 2xx; redirects are not followed and count as one."),
  status_code: z.int().nullable(),
  latency_ms: z.int().min(0),
  response: z.string().nullable().describe("Start of the receiver's answer, as text."),
});

export const deliveryView = z.strictObject({
  object: z.literal("stt_webhook_delivery"),
  id: z.string(),
  event_id: z.string().describe("`X-SVC-Webhook-Id` of every attempt."),
  event: webhookEvent,
  test: z.boolean(),
  status: z.enum(DELIVERY_STATES),
  created_at: time,
  next_attempt_at: time.nullable(),
  finished_at: time.nullable(),
  ended_by: z
    .enum(["attempts", "gone", "disabled", "deleted"])
    .nullable()
    .describe(
      "Why a failed delivery is not retried: its attempts are used up, the receiver answered 410, or the webhook was disabled or deleted.",
    ),
  attempts: z.array(attemptView).describe("The latest 20, oldest first."),
});
export type DeliveryView = z.infer<typeof deliveryView>;

export const deliveryList = z.strictObject({
  object: z.literal("list"),
  data: z.array(deliveryView).describe("Newest first."),
  next_cursor: z.string().nullable().describe("Send it as `cursor` for the next page. Null on the last page."),
});

export const deliveryQuery = z.object({
  status: z.enum(DELIVERY_STATES).describe("Only deliveries in this state. `failed`: no further attempts.").optional(),
  limit: pageFields.limit,
  cursor: z.string().min(1).max(64).describe("`next_cursor` of the previous page.").optional(),
});

/** The first event of the stream that `patchbay listen` reads. */
export const listenReady = z.strictObject({
  object: z.literal("stt_webhook_stream"),
  secret: z
    .string()
    .nullable()
    .describe(
      "A secret for this connection only, if the workspace has no webhook. Null: the webhook's own secret signs.",
    ),
  secret_last4: z.string(),
});
export type ListenReady = z.infer<typeof listenReady>;

/** An event as it would be delivered; the listener forwards it unchanged. */
export const listenDelivery = z.strictObject({
  object: z.literal("stt_webhook_stream_delivery"),
  id: z.string(),
  headers: z.record(z.string(), z.string()),
  body: z.string(),
});
export type ListenDelivery = z.infer<typeof listenDelivery>;

export const streamQuery = z.object({
  after: z
    .string()
    .min(1)
    .max(64)
    .describe("Id of the last event received: later ones are sent first. Some may be repeated.")
    .optional(),
});
