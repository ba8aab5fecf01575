// One side of a comparison from its request on, and its facts as text for the page and the file. Pure.
import type { RequestRecordView } from "../contract/requests.ts";
import type { Failure } from "../page/ask.ts";
import { targetName } from "../page/target-name.ts";
import type { Label } from "./comparison.ts";
import type { Transcript } from "./exports.ts";
import { spokenWords, type SpokenWords } from "./spoken-words.ts";
import { clock, piecesOf } from "./timeline.ts";

export interface Heard {
  readonly state: "heard";
  readonly transcript: Transcript;
  readonly spoken: SpokenWords;
  readonly record: RequestRecordView | "reading" | "unreadable";
}
export type SideState =
  | { readonly state: "waiting" }
  | { readonly state: "failed"; readonly failure: Failure; readonly requestId: string | null }
  | Heard;

export interface Side {
  readonly label: Label;
  /** Null: none. */
  readonly purpose: string | null;
  readonly now: SideState;
}

export const heard = (transcript: Transcript): Heard => ({
  state: "heard",
  transcript,
  spoken: spokenWords(transcript),
  record: "reading",
});

export const purposeWords = (purpose: string | null): string =>
  purpose === null ? "no purpose" : `purpose ${purpose}`;

type FactText = (heard: Heard) => string;
const UNKNOWN = { reading: "record not loaded yet", unreadable: "record not available" } as const;
const ofRecord =
  (textOf: (record: RequestRecordView) => string): FactText =>
  ({ record }) =>
    typeof record === "string" ? UNKNOWN[record] : textOf(record);

/** In display order. */
export const FACTS: Readonly<Record<string, FactText>> = {
  "Purpose applied": ({ transcript }) => transcript.svc_applied_purpose ?? "none",
  Target: ofRecord(targetOf),
  Words: ({ spoken }) => String(spoken.words.length),
  Audio: ({ transcript }) => clock(transcript.duration_seconds),
  Time: ofRecord(timeOf),
  Cost: ofRecord(costOf),
  "Mean word confidence": ({ transcript }) => confidenceOf(transcript),
  Speakers: ({ transcript }) => speakersOf(transcript),
  Language: ({ transcript }) => transcript.language ?? "not reported",
  Times: ({ spoken }) => TIMES[spoken.times],
};

const TIMES: Readonly<Record<SpokenWords["times"], string>> = {
  words: "words",
  segments: "no word times: words link to the start of their segment",
  none: "missing",
};

function targetOf({ attempts }: RequestRecordView): string {
  const served = attempts.findLast(({ outcome }) => outcome === "succeeded");
  return served === undefined ? "none" : targetName(served);
}

const milliseconds = (seconds: number): string => `${Math.round(seconds * 1000)} ms`;

function timeOf({ duration_seconds: whole, attempts }: RequestRecordView): string {
  const calls = attempts.map(({ created_at: began, finished_at: ended }) =>
    ended === null ? 0 : (Date.parse(ended) - Date.parse(began)) / 1000,
  );
  const calledSeconds = calls.reduce((sum, seconds) => sum + seconds, 0);
  return `${milliseconds(whole)}, of it ${milliseconds(calledSeconds)} in ${calls.length} ${calls.length === 1 ? "call" : "calls"}`;
}

/** Metered, provider-billed and simulated costs, never in one sum. */
function costOf({ attempts, usage, idempotency }: RequestRecordView): string {
  if (idempotency.replayed) return "paid by the earlier request with the same idempotency key";
  const of = (billing: string) => attempts.filter((attempt) => attempt.billing_class === billing);
  const parts: string[] = [];
  if (of("metered").length > 0) parts.push(`$${usage.charge_usd} metered`);
  const billed = of("provider_billed");
  if (billed.length > 0) {
    const prices = billed.map(({ estimate_usd: price }) => (price === null ? "unknown" : `$${price}`));
    parts.push(`provider-billed, list price ${prices.join(" + ")}`);
  }
  if (of("simulated").length > 0) parts.push("$0, simulated");
  return parts.join("; ") || "$0: no call";
}

function confidenceOf({ words }: Transcript): string {
  const confidences = words.flatMap(({ confidence }) => (confidence === null ? [] : [confidence]));
  if (confidences.length === 0) return "none";
  const mean = confidences.reduce((sum, each) => sum + each, 0) / confidences.length;
  return `${(100 * mean).toFixed(1)} %`;
}

function speakersOf(transcript: Transcript): string {
  const speakers = new Set(piecesOf(transcript).flatMap(({ speaker }) => speaker ?? []));
  return speakers.size === 0 ? "not separated" : String(speakers.size);
}

export interface ToldWarning {
  /** Null: both sides have it. */
  readonly only: Label | null;
  readonly code: string;
  readonly message: string;
}

/** Each warning once, with the side that alone has it: a feature dropped on one side explains a difference. */
export function warningsOf(one: Transcript, other: Transcript): readonly ToldWarning[] {
  const warningsWithoutMark = (side: Transcript) => side.warnings.filter(({ code }) => code !== "SIMULATED_PROVIDER");
  const has = (side: Transcript, { code, message }: Pick<ToldWarning, "code" | "message">): boolean =>
    side.warnings.some((each) => each.code === code && each.message === message);
  return [
    ...warningsWithoutMark(one).map((each) => ({ only: has(other, each) ? null : ("A" as const), ...codeOf(each) })),
    ...warningsWithoutMark(other).flatMap((each) => (has(one, each) ? [] : [{ only: "B" as const, ...codeOf(each) }])),
  ];
}

const codeOf = ({ code, message }: Transcript["warnings"][number]) => ({ code, message });
