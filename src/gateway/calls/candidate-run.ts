// What a run over candidates is made of, and what comes of it. A request and a job run alike: what they remember of a call is
// their `keeper`'s.
import type { AppId, AttemptId, KeyId, RequestId, WorkspaceId } from "../../contract/ids.ts";
import type { Preference } from "../../contract/features.ts";
import type { Warning } from "../../contract/transcription.ts";
import type { Reservation, Settlement } from "../../metering/ledger-entries.ts";
import type { RemoteRun } from "../../providers/io.ts";
import type { ProviderTranscript, SpeechAudio, SpeechRequest } from "../../providers/provider.ts";
import type { Candidate } from "../../routing/pick-candidates.ts";
import type { Requirements } from "../../routing/required-features.ts";
import type { AttemptAllowance } from "./attempt-allowance.ts";
import type { Execute } from "./attempt.ts";
import type { FailedAttempt } from "./judge-failure.ts";
import type { Billing } from "./quote.ts";

/** Whose work it is, and who pays. */
export interface Payer {
  readonly requestId: RequestId;
  readonly endpoint: string;
  readonly workspaceId: WorkspaceId;
  readonly appId: AppId;
  readonly keyId: KeyId | null;
  /** The one that was applied. */
  readonly purpose: string | null;
  readonly testMode: boolean;
  /** Its workspace has a plan, whose credits pay for audio [budgets.plan-credits]. */
  readonly hasPlan: boolean;
}

/** What must be durable around a call. Throws what is to end the run. */
export interface CallJournal {
  /** Commits before a byte leaves. Answers the id of the attempt, which is another's than given where one was reserved before. */
  reserve(reservation: Reservation): Promise<AttemptId>;
  /** Commits that the call is made, before the first byte of a request that is not free. */
  announce?(): Promise<void>;
  /** Told as the first byte of a request that is not free leaves. */
  dispatched?(): void;
  /** Ends an attempt that served nobody. */
  settle(settlement: Settlement, failure: FailedAttempt): Promise<void>;
  /** An answer that is doubted while another target is asked: its attempt stays open, and its target is not called again. */
  setAside(failure: FailedAttempt): Promise<void>;
  /** Ends an attempt that was set aside and whose answer nobody gets. */
  drop(settlement: Settlement): Promise<void>;
  /**
   * Commits before the first poll: what the provider now keeps has to be deleted there. Also told of providers that answer at
   * once and keep a copy; those have no `remote`.
   */
  recordRemoteRun(candidate: Candidate, remote: RemoteRun, part: "whole" | "piece"): Promise<void>;
}

export interface CandidateRun {
  readonly payer: Payer;
  readonly audio: SpeechAudio;
  readonly wanted: Requirements;
  readonly candidates: readonly Candidate[];
  readonly mayPayTwice: boolean;
  readonly deadlineAtMs: number;
  readonly signal: AbortSignal;
  readonly journal: CallJournal;
  /** Over all that one request or job calls. */
  readonly allowance: AttemptAllowance;
  /** Disposed of when the answer is made: what it holds of the budget of replies until then. */
  readonly holds: DisposableStack;
  /** What to ask of a candidate, when it is more than what is wanted. */
  readonly requestOf?: (candidate: Candidate, wanted: Requirements) => SpeechRequest;
  readonly execute?: Execute;
  /** Something of an answer has reached the caller: whatever happens now, no other target continues it. */
  readonly hasBegun?: () => boolean;
}

export interface Served {
  readonly kind: "served";
  readonly candidate: Candidate;
  readonly transcript: ProviderTranscript;
  readonly dropped: readonly Preference[];
  readonly billing: Billing;
  readonly warnings: readonly Warning[];
  /** Of audio sent in pieces: one came back without a word, though somebody speaks in it. */
  readonly missedSpeech: boolean;
  /** Charges the attempt; to be made in the transaction that stores the answer. */
  readonly settlement: Settlement;
}

export type RunOutcome =
  | Served
  /** `attemptLimit`: not null where it kept other targets from being called. */
  | { readonly kind: "exhausted"; readonly failures: readonly FailedAttempt[]; readonly attemptLimit: number | null }
  /** A call may have been done and paid. `wasFollowed`: another target was tried after it, and failed. */
  | { readonly kind: "unknown"; readonly how: "unknown" | "timeout"; readonly wasFollowed: boolean }
  /** The signal stopped it. */
  | { readonly kind: "aborted" };
