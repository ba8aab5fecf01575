// Makes one delivery attempt: signs the body [webhooks.signed-per-attempt], sends it and evaluates the response. No database transaction is open meanwhile.
import type { Attempted } from "./attempted.ts";
import { retryAfterSeconds } from "./schedule.ts";
import type { ReceiverAnswer, WebhookServices } from "./services.ts";
import { type SigningSecrets, signatureHeaders } from "./sign.ts";

/** What is sent: the event of a job, or an alert. */
export interface OutgoingMessage {
  readonly url: string;
  readonly event: object;
  readonly eventId: string;
  readonly secrets: SigningSecrets;
  readonly isTest: boolean;
}

export interface AttemptServices extends Pick<WebhookServices, "timeoutMs" | "nowMs" | "onAttempt"> {
  readonly receivers: Pick<WebhookServices["receivers"], "post">;
}

/** Enough to show the receiver's error message. */
const MAX_RESPONSE_CHARACTERS = 2_048;

export async function attemptDelivery(
  services: AttemptServices,
  delivery: OutgoingMessage,
  signal?: AbortSignal,
): Promise<Attempted> {
  const { receivers, timeoutMs, nowMs } = services;
  const startedMs = nowMs();
  const request = signedRequest(delivery, startedMs);
  const started = performance.now();
  const answer = await receivers.post({ url: delivery.url, ...request, timeoutMs, signal });
  const verdict = evaluate(answer, nowMs());
  services.onAttempt?.(verdict.outcome);
  return { startedAt: new Date(startedMs), latencyMs: Math.round(performance.now() - started), ...verdict };
}

export interface SignedRequest {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export function signedRequest(
  { event, eventId, secrets, isTest }: Omit<OutgoingMessage, "url">,
  nowMs: number,
): SignedRequest {
  const body = JSON.stringify(event);
  return {
    body,
    headers: {
      "content-type": "application/json",
      "user-agent": "Patchbay-Webhook/1",
      ...signatureHeaders({ id: eventId, body, timestampSeconds: Math.floor(nowMs / 1000) }, secrets),
      ...(isTest ? { "x-svc-webhook-test": "true" } : {}),
    },
  };
}

function evaluate(
  answer: ReceiverAnswer,
  nowMs: number,
): Pick<Attempted, "outcome" | "statusCode" | "response" | "retryAfterSeconds"> {
  if (answer.kind !== "answer")
    return { outcome: answer.kind, statusCode: null, response: null, retryAfterSeconds: null };
  const { statusCode } = answer;
  return {
    outcome: statusCode >= 200 && statusCode < 300 ? "delivered" : "http_status",
    statusCode,
    response: readableStart(answer.bodyStart),
    retryAfterSeconds: retryAfterSeconds(answer.retryAfter, nowMs),
  };
}

/** The response body as text that can be stored and shown, without control characters other than line breaks and tabs. */
function readableStart(text: string): string {
  const start = text.slice(0, MAX_RESPONSE_CHARACTERS);
  // oxlint-disable-next-line no-control-regex -- matches control characters on purpose
  const readable = start.replaceAll(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/g, "\uFFFD");
  // Half of a surrogate pair could not be stored.
  return readable.toWellFormed();
}
