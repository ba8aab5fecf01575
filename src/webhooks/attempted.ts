// What an attempt has shown of the receiver.
import type { AttemptOutcome } from "../contract/webhook.ts";

export interface Attempted {
  readonly startedAt: Date;
  readonly outcome: AttemptOutcome;
  readonly statusCode: number | null;
  readonly latencyMs: number;
  readonly response: string | null;
  readonly retryAfterSeconds: number | null;
}

const GONE = 410;
const TOO_MANY_REQUESTS = 429;

export function isGone(attempted: Attempted): boolean {
  return attempted.statusCode === GONE;
}

export function isThrottled(attempted: Attempted): boolean {
  return attempted.outcome === "timeout" || attempted.statusCode === TOO_MANY_REQUESTS;
}
