// Verifies the signature of a delivery on the receiver's side [webhooks.verify-tampered]. Published as `patchbay-gateway/webhooks`: import it or copy it, it
// depends only on Node.
import { createHmac, timingSafeEqual } from "node:crypto";

/** The whole body of a delivery. The result itself is fetched through the job API. */
export interface WebhookEvent {
  readonly type: "transcription.job.succeeded" | "transcription.job.failed" | "transcription.job.cancelled";
  readonly job_id: string;
  readonly status: "succeeded" | "failed" | "cancelled";
  /** RFC 3339, UTC. */
  readonly occurred_at: string;
}

export interface WebhookRequest {
  /** The exact bytes of the request: parsing and serialising again would change what is signed. */
  readonly body: string | Uint8Array;
  readonly headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>;
  /** `whsec_…` as it was shown. Pass several during a rotation. */
  readonly secret: string | readonly string[];
  /** Maximum age of a delivery. Default: 300. */
  readonly toleranceSeconds?: number;
  /** How far the sender's clock may be ahead. Default: 60. */
  readonly futureToleranceSeconds?: number;
  /** Milliseconds since the epoch. Default: the system clock. */
  readonly nowMs?: number;
}

export type WebhookVerdict =
  | {
      readonly ok: true;
      readonly event: WebhookEvent;
      /** The same in every delivery of one event: use it to deduplicate. */
      readonly id: string | null;
    }
  | {
      readonly ok: false;
      readonly reason:
        | "missing_header"
        | "malformed_timestamp"
        | "stale_timestamp"
        | "future_timestamp"
        | "wrong_signature"
        | "malformed_body";
    };

/** The body of an alert. `details` depends on `event`. */
export interface AlertMessage {
  readonly id: string;
  readonly event: string;
  /** RFC 3339, UTC. */
  readonly occurred_at: string;
  readonly workspace: string | null;
  readonly cause: string;
  readonly summary: string;
  readonly details: Readonly<Record<string, unknown>>;
  readonly text: string;
}

export type AlertVerdict =
  | { readonly ok: true; readonly alert: AlertMessage }
  | Extract<WebhookVerdict, { readonly ok: false }>;

export function verifyWebhook(request: WebhookRequest): WebhookVerdict {
  const signed = verifySignature(request);
  if (!signed.ok) return signed;
  const event = parseBody(signed.body, isEvent);
  if (event === null) return { ok: false, reason: "malformed_body" };
  return { ok: true, event, id: headerOf(request.headers, "x-svc-webhook-id") };
}

/** The same for an alert of the operator or of a workspace [alerts.signature]. */
export function verifyAlert(request: WebhookRequest): AlertVerdict {
  const signed = verifySignature(request);
  if (!signed.ok) return signed;
  const alert = parseBody(signed.body, isAlert);
  return alert === null ? { ok: false, reason: "malformed_body" } : { ok: true, alert };
}

type Signed = { readonly ok: true; readonly body: Buffer } | Extract<WebhookVerdict, { readonly ok: false }>;

function verifySignature(request: WebhookRequest): Signed {
  const secrets = typeof request.secret === "string" ? [request.secret] : request.secret;
  // Anyone can sign with an empty key, so an environment variable that is not set must not disable the check.
  if (secrets.length === 0 || secrets.includes("")) throw new TypeError("verifyWebhook needs the signing secret.");
  const timestamp = headerOf(request.headers, "x-svc-webhook-ts");
  const signatures = ["x-svc-webhook-signature", "x-svc-webhook-signature-previous"].flatMap(
    (name) => headerOf(request.headers, name) ?? [],
  );
  if (timestamp === null || signatures.length === 0) return { ok: false, reason: "missing_header" };
  if (!/^[0-9]{1,12}$/.test(timestamp)) return { ok: false, reason: "malformed_timestamp" };
  const ageSeconds = (request.nowMs ?? Date.now()) / 1000 - Number(timestamp);
  if (ageSeconds > (request.toleranceSeconds ?? 300)) return { ok: false, reason: "stale_timestamp" };
  if (-ageSeconds > (request.futureToleranceSeconds ?? 60)) return { ok: false, reason: "future_timestamp" };
  const body = Buffer.from(request.body);
  const isSigned = secrets.some((secret) => {
    const expected = createHmac("sha256", secret).update(`${timestamp}.`).update(body).digest();
    return signatures.some((signature) => isEqual(signature, expected));
  });
  return isSigned ? { ok: true, body } : { ok: false, reason: "wrong_signature" };
}

function isEqual(signature: string, expected: Buffer): boolean {
  return /^[0-9a-f]{64}$/i.test(signature) && timingSafeEqual(Buffer.from(signature, "hex"), expected);
}

function headerOf(headers: WebhookRequest["headers"], name: string): string | null {
  if (headers instanceof Headers) return headers.get(name);
  const value = Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1];
  return (typeof value === "string" ? value : value?.[0]) ?? null;
}

function parseBody<Body>(body: Buffer, isBody: (value: unknown) => value is Body): Body | null {
  try {
    const value: unknown = JSON.parse(body.toString("utf8"));
    return isBody(value) ? value : null;
  } catch {
    return null;
  }
}

function isEvent(value: unknown): value is WebhookEvent {
  return hasTexts(value, ["type", "job_id", "status", "occurred_at"]);
}

function isAlert(value: unknown): value is AlertMessage {
  return hasTexts(value, ["id", "event", "occurred_at", "cause", "summary", "text"]);
}

function hasTexts(value: unknown, names: readonly string[]): boolean {
  if (typeof value !== "object" || value === null) return false;
  return names.every((name) => typeof (value as Record<string, unknown>)[name] === "string");
}
