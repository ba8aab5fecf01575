// Computes the signature headers of a delivery for each attempt [webhooks.signature]: the service's own header, the previous secret's for a while after a
// rotation [webhooks.rotation], and the three headers of Standard Webhooks.
import { createHmac, randomBytes } from "node:crypto";

const SECRET_PREFIX = "whsec_";
const SECRET_BYTES = 32;

export interface SigningSecrets {
  readonly current: string;
  /** The secret before a rotation, while receivers may still use it. */
  readonly previous: string | null;
}

export interface SignedMessage {
  /** The event's id: the same in every attempt, so that receivers can deduplicate. */
  readonly id: string;
  readonly body: string;
  readonly timestampSeconds: number;
}

export function makeSecret(): string {
  return SECRET_PREFIX + randomBytes(SECRET_BYTES).toString("base64");
}

export function signatureHeaders(message: SignedMessage, secrets: SigningSecrets): Readonly<Record<string, string>> {
  const { id, body, timestampSeconds } = message;
  const timestamp = String(timestampSeconds);
  const standard = [secrets.current, ...(secrets.previous === null ? [] : [secrets.previous])]
    .map((secret) => `v1,${standardSignature(secret, `${id}.${timestamp}.${body}`)}`)
    .join(" ");
  return {
    "x-svc-webhook-id": id,
    "x-svc-webhook-ts": timestamp,
    "x-svc-webhook-signature": signature(secrets.current, timestamp, body),
    ...(secrets.previous === null
      ? {}
      : { "x-svc-webhook-signature-previous": signature(secrets.previous, timestamp, body) }),
    "webhook-id": id,
    "webhook-timestamp": timestamp,
    "webhook-signature": standard,
  };
}

/** The key is the text of the secret as shown, prefix included, so that a receiver need not decode anything [webhooks.signature]. */
function signature(secret: string, timestamp: string, body: string): string {
  return createHmac("sha256", Buffer.from(secret, "utf8")).update(`${timestamp}.${body}`, "utf8").digest("hex");
}

/** Standard Webhooks uses the decoded bytes of the part after the prefix as the key. */
function standardSignature(secret: string, content: string): string {
  const key = Buffer.from(secret.slice(SECRET_PREFIX.length), "base64");
  return createHmac("sha256", key).update(content, "utf8").digest("base64");
}
