// Request and answer types of the contract, without the fields that the client's methods set themselves.
import type { ChatStreamEvent } from "../contract/chat/chat-answer.ts";
import type { ChatRequest } from "../contract/chat/chat-request.ts";
import type { JobRequestFields, JobStatus } from "../contract/jobs.ts";
import type { TranscriptionFields, TranslationFields } from "../contract/transcription/transcription-fields.ts";
import type { TranscriptStreamEvent } from "../contract/transcription/transcription-envelope.ts";
import type { UsageGroup } from "../contract/usage.ts";

/** Deep read-only form for arguments. */
type Given<T> = unknown extends T ? T : T extends object ? { readonly [Name in keyof T]: Given<T[Name]> } : T;

/** Fields set by the method: `transcribe`, `transcribeStream` or `jobs.submit`. */
type ByMethod = "mode" | "stream" | "dry_run";

export type TranscriptionOptions = Given<Omit<TranscriptionFields, ByMethod>>;
export type TranslationOptions = Given<Omit<TranslationFields, ByMethod>>;
export type JobOptions = Given<Omit<JobRequestFields, ByMethod>>;
export type ChatOptions = Given<Omit<ChatRequest, ByMethod>>;

/** Checks everything up to the call and returns the routing decision. No provider is called and nothing is billed. */
export interface DryRun {
  readonly dry_run: true;
}

/** `error` events are thrown. */
export type TranscriptEvent = Exclude<TranscriptStreamEvent, { readonly event: "error" }>;
export type ChatEvent = Exclude<ChatStreamEvent, { readonly event: "error" }>;

export interface JobListOptions {
  /** Filter by state. */
  readonly status?: JobStatus | undefined;
  /** Jobs per page, 1 to 100. Default: 20. */
  readonly limit?: number | undefined;
  /** `next_cursor` of the previous page. */
  readonly cursor?: string | undefined;
}

export interface UsageOptions {
  /** First day, UTC. Default: 29 days before the last. */
  readonly from?: string | undefined;
  /** Last day, UTC. Default: today. */
  readonly to?: string | undefined;
  /** Dimensions by which rows are grouped. */
  readonly group_by?: readonly UsageGroup[] | undefined;
}
