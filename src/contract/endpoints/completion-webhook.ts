// Declares the request that the gateway sends to a workspace's completion webhook: its body, its headers with the signature, and what the receiver's answer
// means [webhooks.payload].
import { z } from "zod";
import { webhookEvent } from "../webhook.ts";

const SIGNATURE = /^[0-9a-f]{64}$/u;

export const completionWebhook = {
  name: "transcriptionJobEnded",
  operationId: "receiveTranscriptionJobEnded",
  summary: "A transcription job ended",
  description:
    "Sent to the URL of the workspace's completion webhook for every job that ends, at least once. Verify the signature before you trust the body. It has no transcript: get the job for its result. A delivery that fails is repeated, with the same `X-SVC-Webhook-Id`.",
  body: webhookEvent,
  headers: z.object({
    "X-SVC-Webhook-Id": z.string().describe("The event's id: the same in every attempt and every redelivery."),
    "X-SVC-Webhook-Ts": z.string().regex(/^\d+$/u).describe("Time of this attempt in Unix seconds."),
    "X-SVC-Webhook-Signature": z
      .string()
      .regex(SIGNATURE)
      .describe(
        "Hexadecimal HMAC-SHA256 of `<X-SVC-Webhook-Ts>.<raw body>`. The key is the text of the secret, `whsec_` included.",
      ),
    "X-SVC-Webhook-Signature-Previous": z
      .string()
      .regex(SIGNATURE)
      .describe("For 24 hours after a rotation: the signature with the previous secret.")
      .optional(),
    "X-SVC-Webhook-Test": z
      .literal("true")
      .describe("Only in a test delivery, which names a job that does not exist.")
      .optional(),
    "webhook-id": z.string().describe("As `X-SVC-Webhook-Id`, for libraries of Standard Webhooks."),
    "webhook-timestamp": z.string().regex(/^\d+$/u).describe("As `X-SVC-Webhook-Ts`, for the same libraries."),
    "webhook-signature": z
      .string()
      .describe("`v1,` and the signature of Standard Webhooks in base64. Two, separated by a space, after a rotation."),
  }),
  responses: {
    "2XX": "Received. The body is not read.",
    "410": "The receiver is gone: the webhook is disabled.",
    default: "Not received: the delivery is repeated later. Redirects are not followed.",
  },
  /** Signed with the secret `whsec_Gcns7gvKLiF+0k+aDVz4AmYEqf7YS9i5eN1yruX5lKU=`. */
  example: {
    headers: {
      "X-SVC-Webhook-Id": "evt_01kaj3v9r1h5k7p2n8d6s4t0wb",
      "X-SVC-Webhook-Ts": "1795176001",
      "X-SVC-Webhook-Signature": "4471cd8a2a7128375fd16f9b1d77ae74be9577a8492aadd04556adbb280b58c3",
      "webhook-id": "evt_01kaj3v9r1h5k7p2n8d6s4t0wb",
      "webhook-timestamp": "1795176001",
      "webhook-signature": "v1,RFbM9/bzV8G3DtnVs0yfHdVFGMKqAw2LwfPukN/iT/I=",
    },
    body: {
      type: "transcription.job.failed",
      job_id: "job_01kaj3v9q8f0t5x2m7c4r6d1nf",
      status: "failed",
      occurred_at: "2026-11-20T12:00:00.123Z",
    },
  },
} as const;
