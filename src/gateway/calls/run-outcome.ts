// The input of a run, which calls candidates in order until one serves the request or job, and its outcome: served, exhausted, unknown or aborted.
import type { Preference } from "../../contract/features.ts";
import type { Warning } from "../../contract/transcription/transcription-envelope.ts";
import type { Settlement } from "../../metering/ledger-entries.ts";
import type { ProviderTranscript, SpeechAudio, SpeechRequest } from "../../providers/provider.ts";
import type { Candidate } from "../../routing/pick-candidates.ts";
import type { Requirements } from "../../routing/required-features.ts";
import type { AttemptAllowance } from "./attempt-allowance.ts";
import type { Execute } from "./attempt.ts";
import type { FailedAttempt } from "./judge-failure.ts";
import type { Payer } from "../account/payer.ts";
import type { Billing } from "../billing/audio-quote.ts";
import type { CallJournal } from "./call-journal.ts";

export interface CandidateRun {
  readonly payer: Payer;
  readonly audio: SpeechAudio;
  readonly wanted: Requirements;
  readonly candidates: readonly Candidate[];
  readonly mayPayTwice: boolean;
  readonly deadlineAtMs: number;
  readonly signal: AbortSignal;
  readonly journal: CallJournal;
  /** Shared by all calls of one request or job. */
  readonly allowance: AttemptAllowance;
  /** Disposed of when the answer is complete. Until then it holds a part of the memory budget for replies. */
  readonly holds: DisposableStack;
  /** Builds the request to a candidate, if it asks for more than what is required. */
  readonly requestOf?: (candidate: Candidate, wanted: Requirements) => SpeechRequest;
  readonly execute?: Execute;
  /** For jobs: a target without room is waited for. Else the next target is called. */
  readonly waitsForRoom?: boolean;
  /** Content has reached the caller, so that no other target may continue the answer. */
  readonly hasBegun?: () => boolean;
}

export interface ServedOutcome {
  readonly kind: "served";
  readonly candidate: Candidate;
  readonly transcript: ProviderTranscript;
  readonly dropped: readonly Preference[];
  readonly billing: Billing;
  readonly warnings: readonly Warning[];
  /** For audio sent in pieces: the transcript of a piece with audible speech was empty. */
  readonly missedSpeech: boolean;
  /** Charges the attempt. Must be part of the transaction that stores the answer. */
  readonly settlement: Settlement;
}

export type RunOutcome =
  | ServedOutcome
  /** `attemptLimit`: the limit, if it prevented further targets from being called. */
  | { readonly kind: "exhausted"; readonly failures: readonly FailedAttempt[]; readonly attemptLimit: number | null }
  /** A call may have been done and charged. `wasFollowed`: another target was tried after it and failed. */
  | { readonly kind: "unknown"; readonly how: "unknown" | "timeout"; readonly wasFollowed: boolean }
  /** Aborted by the signal. */
  | { readonly kind: "aborted" };
