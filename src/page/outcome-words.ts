// Describes the outcome of a provider call, with one text for each kind of failure.

/** Outcomes with a code that needs an explanation. */
const WORDS: Readonly<Record<string, string>> = {
  connect: "connection failed",
  unauthorized: "credential rejected",
  payment: "out of credit",
  rejected: "request rejected",
  bad_reply: "invalid response",
  timeout: "timeout",
  unknown: "outcome unknown",
};

/** `failed:rate_limited`: `rate limited`. Null: it has not ended. */
export function outcomeWords(outcome: string | null): string {
  if (outcome === null) return "in progress";
  const kind = outcome.replace(/^failed:/u, "");
  return WORDS[kind] ?? kind.replaceAll("_", " ");
}
