// What a routed request writes to the request log: filled in by each step of the call and read once at the end. An allow-list without texts of callers or
// providers, file names or addresses [requests.no-content].
import type { AppId, JobId, KeyId, RequestId, WorkspaceId } from "../contract/ids.ts";
import type { ErrorCode } from "../contract/errors.ts";
import type { Capability, Profile } from "../contract/features.ts";
import { LABEL_PATTERN } from "../contract/names.ts";
import type { Principal } from "../auth/principal.ts";
import type { ModelRetirement } from "../providers/life-status.ts";
import type { RouteDecision } from "../routing/decide-route.ts";
import type { Candidate, Missing } from "../routing/pick-candidates.ts";
import { isCapable, type PurposePolicy, type Target } from "../routing/types.ts";

/** How the idempotency key was used. `unused`: it was ignored, or the request was refused before the key was claimed. */
export type KeyUse = "not_sent" | "unused" | "first" | "replayed" | "reused" | "in_progress" | "unavailable";

export interface RequestedOptions {
  readonly capability: Capability;
  readonly features: readonly string[];
  readonly preferences: readonly string[];
  readonly profile: Profile | null;
  readonly stream: boolean;
  readonly dry_run: boolean;
}

/** A target of the route at the time of the decision. */
export interface RecordedCandidate {
  readonly position: number;
  readonly connection: string;
  readonly provider: string;
  readonly model: string;
  /** Missing features and limits. `audio_input`, `chat` or `profile` for a target that was not judged further. */
  readonly missing: readonly string[];
  /** Null: not checked. */
  readonly healthy: boolean | null;
  /** RFC 3339. Present if the target was paused manually. */
  readonly pausedUntil?: string;
  /** Present if its provider has ended the model. */
  readonly retired?: ModelRetirement;
}

export interface RecordedPurpose {
  readonly requested: string | null;
  readonly applied: string | null;
  readonly source: string;
  readonly policy: PurposePolicy | null;
  /** Why the purpose that was sent, or the default one, was not applied. */
  readonly reason: string | null;
}

/** Filled in by the steps of a call, each method at most once. */
export interface Recorder {
  decided(decision: RouteDecision<unknown, Missing>, asked: RequestedOptions, policy: PurposePolicy | null): void;
  measured(durationSeconds: number): void;
  keyUsed(use: KeyUse): void;
  jobMade(id: JobId): void;
  /** A stream ended in an error after its status 200. */
  broke(code: ErrorCode): void;
}

export interface RecordOpening {
  readonly requestId: RequestId;
  readonly endpoint: string;
  /** Null: the request had no valid key, or the key could not be looked up. */
  readonly principal: Principal | null;
  readonly receivedAtMs: number;
  readonly hasIdempotencyKey: boolean;
}

export interface RecordEnd {
  readonly status: number;
  readonly code: ErrorCode | null;
}

export interface RequestRecord {
  readonly requestId: RequestId;
  /** Null together with `keyId`: the request had no known key. */
  readonly workspaceId: WorkspaceId | null;
  readonly appId: AppId | null;
  readonly keyId: KeyId | null;
  readonly endpoint: string;
  readonly testMode: boolean;
  readonly receivedAtMs: number;
  readonly endedAtMs: number;
  readonly status: number;
  readonly code: ErrorCode | null;
  readonly asked: RequestedOptions | null;
  readonly purpose: RecordedPurpose | null;
  readonly route: string | null;
  /** The version that was live. Null if the route does not exist. */
  readonly routeVersion: number | null;
  /** Null: routing did not refuse the request, or was never reached. */
  readonly refusal: string | null;
  /** Null: no decision was made. */
  readonly candidates: readonly RecordedCandidate[] | null;
  readonly keyUse: KeyUse;
  readonly audioMs: number | null;
  readonly jobId: JobId | null;
}

export interface OpenRecord {
  readonly recorder: Recorder;
  end(end: RecordEnd): void;
}

export function openRecord(
  opening: RecordOpening,
  nowMs: () => number,
  keep: (record: RequestRecord) => void,
): OpenRecord {
  const { requestId, endpoint, principal, receivedAtMs, hasIdempotencyKey } = opening;
  let decision: Pick<RequestRecord, keyof typeof UNDECIDED> = UNDECIDED;
  let keyUse: KeyUse = hasIdempotencyKey ? "unused" : "not_sent";
  let audioMs: number | null = null;
  let jobId: JobId | null = null;
  let streamError: ErrorCode | null = null;
  return {
    recorder: {
      decided: (routeDecision, asked, policy) => {
        decision = recordDecision(routeDecision, asked, policy);
      },
      measured: (seconds) => {
        audioMs = Math.round(seconds * 1000);
      },
      keyUsed: (use) => {
        keyUse = use;
      },
      jobMade: (id) => {
        jobId = id;
      },
      broke: (code) => {
        streamError = code;
      },
    },
    end: ({ status, code }) =>
      keep({
        // Spread first, because V8 copies a spread after other members one by one.
        ...decision,
        requestId,
        workspaceId: principal?.workspace.id ?? null,
        appId: principal?.app?.id ?? null,
        keyId: principal?.key.id ?? null,
        endpoint,
        testMode: principal?.testMode ?? false,
        receivedAtMs,
        endedAtMs: nowMs(),
        status,
        code: code ?? streamError,
        keyUse,
        audioMs,
        jobId,
      }),
  };
}

const UNDECIDED = {
  asked: null,
  purpose: null,
  route: null,
  routeVersion: null,
  refusal: null,
  candidates: null,
} as const;

function recordDecision(
  decision: RouteDecision<unknown, Missing>,
  asked: RequestedOptions,
  policy: PurposePolicy | null,
) {
  const { purpose, considered, route } = decision;
  return {
    asked,
    purpose: {
      requested: labelOf(purpose.svc_requested_purpose),
      applied: purpose.svc_applied_purpose,
      source: purpose.svc_purpose_source,
      policy,
      reason: notAppliedBecause(decision),
    },
    route: route?.id ?? null,
    routeVersion: route?.version ?? null,
    refusal: decision.ok ? null : decision.refusal.kind,
    candidates: route === null ? [] : recordCandidates(route.targets, considered, asked.capability),
  };
}

/** Logged instead of a text that cannot be a label, because it may contain anything that the caller typed. */
const NO_LABEL = "(not a label)";

function labelOf(requested: string | null): string | null {
  return requested === null || LABEL_PATTERN.test(requested) ? requested : NO_LABEL;
}

function notAppliedBecause(decision: RouteDecision<unknown, Missing>): string | null {
  if (!decision.ok && decision.refusal.kind === "purpose_unavailable") return decision.refusal.reason;
  const warning = decision.warnings.find(({ code }) => code === "PURPOSE_NOT_APPLIED");
  const reason = warning?.details?.["reason"];
  return typeof reason === "string" ? reason : null;
}

/** Records the targets that were judged, or all targets of a route; those that were not judged show the reason. */
export function recordCandidates(
  targets: readonly Target[],
  considered: readonly Candidate<Missing>[],
  capability: Capability,
): readonly RecordedCandidate[] {
  return targets.map((target) => {
    const { position, connection, provider, model } = target;
    const judged = considered.find((candidate) => candidate.target === target);
    const missing = judged?.verdict.missing ?? [isCapable(target, capability) ? "profile" : capability];
    const healthy = judged === undefined ? null : judged.rest === null;
    const paused = judged?.rest?.kind === "paused" ? { pausedUntil: judged.rest.until.toISOString() } : {};
    const retired = judged?.retired === undefined ? {} : { retired: judged.retired };
    return { position, connection, provider, model, missing, healthy, ...paused, ...retired };
  });
}
