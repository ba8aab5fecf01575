// The three calls of the page: the gateway's public API, with the caller's own key.
import type { KeyDescription } from "../contract/account.ts";
import type { RequestRecordView } from "../contract/requests.ts";
import type { RoutingDecision, TranscriptionEnvelope } from "../contract/transcription.ts";
import { ask, type Outcome } from "../page/ask.ts";

export function getMe(key: string): Promise<Outcome<KeyDescription>> {
  return ask("/v1/me", key);
}

export function transcribe(
  task: "transcription" | "translation",
  key: string,
  body: FormData,
  signal: AbortSignal,
): Promise<Outcome<TranscriptionEnvelope | RoutingDecision>> {
  return ask(`/v1/${task}`, key, { method: "POST", body, signal });
}

const TRIES = 20;
const AGAIN_MS = 300;

/** A record is readable within 5 s of the answer. */
export async function getRecord(key: string, requestId: string): Promise<Outcome<RequestRecordView>> {
  for (let tries = 1; ; tries += 1) {
    await new Promise((done) => setTimeout(done, AGAIN_MS));
    const outcome = await ask<RequestRecordView>(`/v1/requests/${encodeURIComponent(requestId)}`, key);
    const isMissing = !outcome.ok && outcome.failure.kind === "refused" && outcome.failure.status === 404;
    if (!isMissing || tries === TRIES) return outcome;
  }
}
