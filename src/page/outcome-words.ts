// Describes the outcome of a provider call, with one text for each kind of failure.

/** Outcomes whose code alone says too little. */
const WORDS: Readonly<Record<string, string>> = {
  connect: "no connection",
  unauthorized: "credential refused",
  payment: "out of credit",
  rejected: "request refused",
  bad_reply: "unusable answer",
  timeout: "no answer in time",
  unknown: "outcome unknown",
};

/** `failed:rate_limited`: `rate limited`. Null: it has not ended. */
export function outcomeWords(outcome: string | null): string {
  if (outcome === null) return "under way";
  const kind = outcome.replace(/^failed:/u, "");
  return WORDS[kind] ?? kind.replaceAll("_", " ");
}
