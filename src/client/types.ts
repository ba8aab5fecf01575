// Requests and answers as the contract has them, without what the method that is called says already.
import type { ChatRequest, ChatStreamEvent } from "../contract/chat.ts";
import type { JobRequestFields, JobStatus } from "../contract/jobs.ts";
import type { TranscriptStreamEvent, TranscriptionFields, TranslationFields } from "../contract/transcription.ts";
import type { UsageGroup } from "../contract/usage.ts";

/** As it may be given: nothing of it is changed. */
type Given<T> = unknown extends T ? T : T extends object ? { readonly [Name in keyof T]: Given<T[Name]> } : T;

/** How the answer comes: by `transcribe`, `transcribeStream` or `jobs.submit`. */
type ByMethod = "mode" | "stream" | "dry_run";

export type TranscriptionOptions = Given<Omit<TranscriptionFields, ByMethod>>;
export type TranslationOptions = Given<Omit<TranslationFields, ByMethod>>;
export type JobOptions = Given<Omit<JobRequestFields, ByMethod>>;
export type ChatOptions = Given<Omit<ChatRequest, ByMethod>>;

/** Everything up to the call is judged, and the answer is the routing decision; nothing is called or billed. */
export interface DryRun {
  readonly dry_run: true;
}

/** An `error` event is thrown. */
export type TranscriptEvent = Exclude<TranscriptStreamEvent, { readonly event: "error" }>;
export type ChatEvent = Exclude<ChatStreamEvent, { readonly event: "error" }>;

export interface JobListOptions {
  /** Only jobs in this state. */
  readonly status?: JobStatus | undefined;
  /** Jobs on a page, 1 to 100; 20 unless given. */
  readonly limit?: number | undefined;
  /** `next_cursor` of the page before. */
  readonly cursor?: string | undefined;
}

export interface UsageOptions {
  /** First day, UTC; 29 days before the last unless given. */
  readonly from?: string | undefined;
  /** Last day, UTC; today unless given. */
  readonly to?: string | undefined;
  /** What rows tell apart. */
  readonly group_by?: readonly UsageGroup[] | undefined;
}
