// The three API calls of the playground, with the user's own key.
import type { Audio } from "./audio.ts";
import { type Entries, taskOf } from "./options.ts";
import type { KeyDescription } from "../contract/account.ts";
import type { RequestRecordView } from "../contract/requests.ts";
import type { RoutingDecision, TranscriptionEnvelope } from "../contract/transcription/transcription-envelope.ts";
import { ask, type Outcome } from "../page/ask.ts";

export function getMe(key: string): Promise<Outcome<KeyDescription>> {
  return ask("/v1/me", key);
}

/** The complete request, so that it can be repeated. */
export interface Asked {
  readonly key: string;
  readonly audio: Audio;
  readonly entries: Entries;
}

type Answer = TranscriptionEnvelope | RoutingDecision;

export async function transcribe(
  { key, audio, entries }: Asked,
  signal: AbortSignal,
  headers: Readonly<Record<string, string>> = {},
): Promise<Outcome<Answer>> {
  const body = new FormData();
  for (const [name, value] of entries) body.append(name, value);
  // Last, so that invalid fields are reported before the audio is sent.
  if (audio.kind === "url") body.append("audio.url", audio.url);
  else body.append("file", audio.blob, audio.name);
  const outcome = await ask<Answer>(`/v1/${taskOf(entries)}`, key, { method: "POST", body, signal, headers });
  if (outcome.ok || outcome.failure.kind !== "unreachable" || audio.kind === "url") return outcome;
  // An unreadable file is reported in the same way.
  const read = await audio.blob
    .slice(0, 1)
    .text()
    .catch(() => null);
  return read === null ? { ...outcome, failure: { kind: "unsendable" } } : outcome;
}

const TRIES = 20;
const AGAIN_MS = 300;

/** A record is readable at once in the process that answered, and in others within 5 s. */
export async function getRecord(key: string, requestId: string): Promise<Outcome<RequestRecordView>> {
  for (let tries = 1; ; tries += 1) {
    const outcome = await ask<RequestRecordView>(`/v1/requests/${encodeURIComponent(requestId)}`, key);
    const isMissing = !outcome.ok && outcome.failure.kind === "refused" && outcome.failure.status === 404;
    if (!isMissing || tries === TRIES) return outcome;
    await new Promise((done) => setTimeout(done, AGAIN_MS));
  }
}
