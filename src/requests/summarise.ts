// Summarises a request record in one line for people: what happened, where, and why not elsewhere. Pure.
import { whyNot } from "../contract/lack-text.ts";
import type { RecordedAttemptView, RecordedCandidateView, RequestRecordView } from "../contract/requests.ts";

type UnsummarisedRecord = Omit<RequestRecordView, "summary">;

export function summarise(record: UnsummarisedRecord): string {
  if (record.idempotency.replayed) return "Answered with the stored answer of its Idempotency-Key; nothing was called.";
  const sentences = [
    opening(record),
    ...failures(record.attempts),
    ...otherModels(record.attempts),
    ...skippedTargets(record),
  ];
  return sentences.join(" ");
}

function opening(record: UnsummarisedRecord): string {
  const { decision, status, code, attempts, asked } = record;
  // Two if a chat model translated another model's transcript.
  const served = attempts.filter(({ outcome }) => outcome === "succeeded");
  switch (decision.outcome) {
    case "none":
      return code === null
        ? "The caller disconnected before the request was routed."
        : `Rejected with ${status} ${code} before it was routed; nothing was called.`;
    case "refused":
      return asked?.dry_run === true
        ? `Dry run: it would be rejected (${words(decision.reason)}).`
        : `Rejected with ${status} ${code ?? ""} by its routing (${words(decision.reason)}); nothing was called.`;
    case "routed":
      if (asked?.dry_run === true) return "Dry run: nothing was called.";
      if (record.job !== null) return `Accepted as job ${record.job.id}, ${record.job.status ?? "deleted"}.`;
      if (code !== null) return status === 200 ? `Its stream broke with ${code}.` : `Ended with ${status} ${code}.`;
      if (served.length === 0) return "The caller disconnected before a target had served the request.";
      return `Served by ${served.map(nameOf).join(" and ")}${status === 499 ? " after the caller had disconnected" : ""}.`;
  }
}

function failures(attempts: readonly RecordedAttemptView[]): readonly string[] {
  return attempts.flatMap((attempt) => {
    const { outcome } = attempt;
    if (outcome === null || outcome === "succeeded") return [];
    return [
      `${capital(nameOf(attempt))} ${outcome === "unknown" ? "ended with an unknown outcome" : outcome === "aborted" ? "was stopped" : `failed (${words(outcome.slice("failed:".length))})`}.`,
    ];
  });
}

function otherModels(attempts: readonly RecordedAttemptView[]): readonly string[] {
  return attempts.flatMap((attempt) =>
    attempt.receipts.flatMap(({ feature, delivered, answered }) =>
      feature === "model" && !delivered ? [`${capital(nameOf(attempt))} ${modelText(attempt, answered)}.`] : [],
    ),
  );
}

/** Where names are hidden, a name that is not shown may not have been reported either. */
function modelText({ model }: RecordedAttemptView, answered: string | undefined): string {
  if (answered !== undefined) return `answered with ${answered}`;
  return model === undefined ? "answered with another model or reported none" : "reported no model";
}

function skippedTargets({ candidates, job }: UnsummarisedRecord): readonly string[] {
  const evaluated = job !== null && job.candidates.length > 0 ? job.candidates : candidates;
  return evaluated.flatMap((candidate) =>
    candidate.outcome === "left" ? [`${capital(nameOf(candidate))} ${reasonFor(candidate)}.`] : [],
  );
}

function reasonFor({ missing, health, paused_until: until, retired }: RecordedCandidateView): string {
  if (retired !== undefined) return `was skipped: its provider ended the model on ${retired.ended_on}`;
  if (missing.length > 0) return `was skipped: ${whyNot(missing)}`;
  if (until !== undefined) return `was skipped: it was paused manually until ${until}, without a provider failure`;
  return health === "resting" ? "was skipped: it was unavailable after failures" : "was skipped";
}

function nameOf(place: Pick<RecordedCandidateView, "position" | "provider" | "model">): string {
  const { position, provider, model } = place;
  return provider === undefined || model === undefined
    ? `target ${position}`
    : `target ${position} (${provider} ${model})`;
}

function words(name: string | null): string {
  return (name ?? "unknown").replaceAll("_", " ");
}

function capital(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}
