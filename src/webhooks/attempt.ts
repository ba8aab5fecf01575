// One attempt over the network: signs the body now [webhooks.signed-per-attempt], sends it and judges the answer. No transaction is open.
import type { AttemptOutcome } from "../contract/webhook.ts";
import type { ClaimedDelivery } from "./claim.ts";
import { retryAfterSeconds } from "./schedule.ts";
import type { ReceiverAnswer, WebhookServices } from "./services.ts";
import { signatureHeaders } from "./sign.ts";

export interface Attempted {
  readonly startedAt: Date;
  readonly outcome: AttemptOutcome;
  readonly statusCode: number | null;
  readonly latencyMs: number;
  readonly response: string | null;
  readonly retryAfterSeconds: number | null;
}

/** Enough to see what a receiver complains about. */
const MAX_RESPONSE_CHARACTERS = 2_048;
const GONE = 410;
const TOO_MANY_REQUESTS = 429;

export async function attemptDelivery(
  services: Pick<WebhookServices, "receivers" | "timeoutMs" | "nowMs" | "onAttempt">,
  delivery: ClaimedDelivery,
  signal?: AbortSignal,
): Promise<Attempted> {
  const { receivers, timeoutMs, nowMs } = services;
  const startedMs = nowMs();
  const request = signedRequest(delivery, startedMs);
  const started = performance.now();
  const answer = await receivers.post({ url: delivery.url, ...request, timeoutMs, signal });
  const verdict = judge(answer, nowMs());
  services.onAttempt?.(verdict.outcome);
  return { startedAt: new Date(startedMs), latencyMs: Math.round(performance.now() - started), ...verdict };
}

export interface SignedRequest {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export function signedRequest(
  { event, eventId, secrets, isTest }: Pick<ClaimedDelivery, "event" | "eventId" | "secrets" | "isTest">,
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

export function isGone(attempted: Attempted): boolean {
  return attempted.statusCode === GONE;
}

export function isThrottled(attempted: Attempted): boolean {
  return attempted.outcome === "timeout" || attempted.statusCode === TOO_MANY_REQUESTS;
}

function judge(
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

/** Whatever came, as text that can be stored and shown: no control characters but line breaks and tabs. */
function readableStart(text: string): string {
  const start = text.slice(0, MAX_RESPONSE_CHARACTERS);
  // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
  const readable = start.replaceAll(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/g, "\uFFFD");
  // A pair cut in two could not be stored.
  return readable.toWellFormed();
}
