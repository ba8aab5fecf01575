// Describes the record of one request for its app or an administrator [requests.contents]: an app sees provider names only with `routing:read`. The reason
// why a target was used or skipped is derived from the decision and the calls that were made.
import { GatewayError } from "../contract/errors.ts";
import type { Principal } from "../auth/principal.ts";
import { brand, type WorkspaceId } from "../contract/ids.ts";
import type { RecordedAttemptView, RecordedCandidateView, RequestRecordView } from "../contract/requests.ts";
import { appOf } from "../gateway/account/app-of.ts";
import { describeRetirement } from "../gateway/calls/routing-errors.ts";
import type { ProviderDeletions } from "../gateway/calls/deletion-duties.ts";
import type { RequestedOptions, KeyUse, RecordedCandidate, RecordedPurpose } from "../gateway/request-record.ts";
import { formatUsd } from "../metering/money.ts";
import type { Database } from "../storage/database.ts";
import { readAttempts, readRecordedJob, readRequest, type RecordedJob, type RequestScope } from "./store/requests.ts";
import { asWorkspaceOrSystem } from "../storage/system.ts";
import type { AttemptRow, RequestRow } from "../storage/schema/tables.ts";
import { summarise } from "./summarise.ts";

export interface RecordServices {
  readonly database: Database;
  readonly deletions: Pick<ProviderDeletions, "state">;
  /** Resolves when this process has written its part of the record, because a caller may query it right after the response. */
  readonly written: (requestId: string) => Promise<void>;
}

export async function findRequest(
  services: RecordServices,
  principal: Principal,
  id: string,
): Promise<RequestRecordView> {
  const scope = { workspaceId: principal.workspace.id, appId: appOf(principal).id };
  const recorded = await readRecorded(services, scope, id);
  return describeRequest(recorded, principal.scopes.includes("routing:read") ? "names" : "positions");
}

/** For administrators of the workspace or, with `workspaceId` null, for the operator: with provider names and owner. */
export async function findAnyRequest(
  services: RecordServices,
  workspaceId: WorkspaceId | null,
  id: string,
): Promise<RequestRecordView> {
  const recorded = await readRecorded(services, { workspaceId, appId: null }, id);
  const { workspace_id: workspace, app_id: app, key_id: key } = recorded.row;
  return { ...describeRequest(recorded, "all"), workspace, app, key };
}

async function readRecorded(
  { database, deletions, written }: RecordServices,
  scope: RequestScope,
  id: string,
): Promise<RequestWithAttempts> {
  await written(id);
  const recorded = await asWorkspaceOrSystem(database, scope.workspaceId, async (db) => {
    const row = await readRequest(db, scope, id);
    if (row === null) throw new GatewayError("NOT_FOUND", { message: "There is no record of this request." });
    // A request without a valid key has no app, so nothing was called.
    if (row.workspace_id === null || row.app_id === null) return { row, attempts: [], job: null, owner: null };
    const owner = { workspaceId: brand("workspace", row.workspace_id), appId: brand("app", row.app_id) };
    return {
      row,
      attempts: await readAttempts(db, owner, id),
      job: row.job_id === null ? null : await readRecordedJob(db, owner, row.job_id),
      owner,
    };
  });
  const { owner, ...found } = recorded;
  const subject = found.row.job_id ?? brand("request", found.row.id);
  return { ...found, deletion: owner === null ? "none" : await deletions.state(owner.workspaceId, subject) };
}

export interface RequestWithAttempts {
  readonly row: RequestRow;
  readonly attempts: readonly AttemptRow[];
  readonly job: RecordedJob | null;
  readonly deletion: RequestRecordView["provider_deletion"];
}

/** How much the caller may see: target positions, provider names, or also what providers wrote. */
type Visibility = "positions" | "names" | "all";

/** The casts are safe: only the request log and the job workers write the JSON columns. */
function describeRequest(
  { row, attempts, job, deletion }: RequestWithAttempts,
  visibility: Visibility,
): RequestRecordView {
  const showNames = visibility !== "positions";
  const candidates = row.candidates as readonly RecordedCandidate[] | null;
  const jobCandidates = (job?.candidates ?? []) as readonly RecordedCandidate[];
  const keyUse = row.key_use as KeyUse;
  // A job reserves before it knows which target it will call, and whether it will call now.
  const calls = job?.call_state === "reserved" ? attempts.filter(({ outcome }) => outcome !== null) : attempts;
  const sum = (of: (attempt: AttemptRow) => bigint | null) =>
    attempts.map((attempt) => of(attempt) ?? 0n).reduce((a, b) => a + b, 0n);
  const view = {
    object: "request",
    id: row.id,
    created_at: row.at.toISOString(),
    endpoint: row.endpoint,
    status: row.status,
    code: row.code,
    test_mode: row.test_mode,
    duration_seconds: toSeconds(row.duration_ms),
    asked: row.asked as RequestRecordView["asked"] & RequestedOptions,
    purpose: row.purpose as RecordedPurpose | null,
    decision: decisionOf(row, keyUse),
    ...(showNames ? { route: row.route, route_version: row.route_version } : {}),
    candidates: (candidates ?? []).map((each) => describeCandidate(each, calls, showNames)),
    attempts: attempts.map((attempt) => describeAttempt(attempt, visibility)),
    idempotency: { key: keyUse, replayed: keyUse === "replayed" },
    usage: {
      audio_seconds: row.audio_ms === null ? null : toSeconds(row.audio_ms),
      billable_audio_seconds: toSeconds(sum((attempt) => attempt.billable_audio_ms)),
      input_tokens: Number(sum((attempt) => attempt.input_tokens)),
      output_tokens: Number(sum((attempt) => attempt.output_tokens)),
      charge_usd: formatUsd(sum((attempt) => attempt.charge_nano_usd)),
    },
    job:
      row.job_id === null
        ? null
        : {
            id: row.job_id,
            status: job?.status ?? null,
            code: errorCode(job),
            // A job evaluates its targets again when it runs, so its own result counts.
            candidates: jobCandidates.map((each) => describeCandidate(each, calls, showNames)),
          },
    provider_deletion: deletion,
  } satisfies Omit<RequestRecordView, "summary">;
  return { ...view, summary: summarise(view) };
}

function decisionOf(row: RequestRow, keyUse: KeyUse): RequestRecordView["decision"] {
  if (row.refusal !== null) return { outcome: "refused", reason: row.refusal };
  if (row.candidates !== null) return { outcome: "routed", reason: null };
  return { outcome: "none", reason: keyUse === "replayed" ? "replayed" : (row.code ?? "caller_gone") };
}

function describeCandidate(
  { position, missing, healthy, pausedUntil, retired, connection, provider, model }: RecordedCandidate,
  attempts: readonly AttemptRow[],
  showNames: boolean,
): RecordedCandidateView {
  const eligible = missing.length === 0;
  const calls = attempts.filter((attempt) => attempt.position === position);
  return {
    position,
    eligible,
    missing: [...missing],
    health: healthy === null ? null : healthy ? "healthy" : "resting",
    ...(pausedUntil === undefined ? {} : { paused_until: pausedUntil }),
    ...describeRetirement(retired === undefined ? {} : { retired }, showNames),
    outcome: outcomeOf(calls, eligible && healthy !== false),
    ...(showNames ? { connection, provider, model } : {}),
  };
}

function outcomeOf(calls: readonly AttemptRow[], isEligible: boolean): RecordedCandidateView["outcome"] {
  const last = calls.at(-1);
  if (last === undefined) return isEligible ? "not_reached" : "left";
  if (last.outcome === null) return "called";
  return last.outcome === "succeeded" ? "served" : "failed";
}

/** For the operator, who may see everything that is recorded of a call. */
export function describeCalls(attempts: readonly AttemptRow[]): readonly RecordedAttemptView[] {
  return attempts.map((attempt) => describeAttempt(attempt, "all"));
}

function describeAttempt(attempt: AttemptRow, visibility: Visibility): RecordedAttemptView {
  const { connection, provider, model } = attempt;
  return {
    id: attempt.id,
    position: attempt.position,
    created_at: attempt.created_at.toISOString(),
    finished_at: attempt.settled_at?.toISOString() ?? null,
    outcome: attempt.outcome,
    unresolved: attempt.unresolved,
    billing_class: attempt.billing_class,
    charge_usd: usdOrNull(attempt.charge_nano_usd),
    estimate_usd: usdOrNull(attempt.estimate_nano_usd),
    audio_seconds: toSeconds(attempt.audio_ms),
    billable_audio_seconds: toSeconds(attempt.billable_audio_ms ?? 0n),
    provider_audio_seconds: attempt.provider_ms === null ? null : toSeconds(attempt.provider_ms),
    input_tokens: attempt.input_tokens === null ? null : Number(attempt.input_tokens),
    output_tokens: attempt.output_tokens === null ? null : Number(attempt.output_tokens),
    usage_source: attempt.usage_source,
    receipts: ((attempt.receipts ?? []) as readonly StoredReceipt[]).map((receipt) =>
      describeReceipt(receipt, visibility),
    ),
    ...(visibility === "positions"
      ? {}
      : {
          connection,
          provider,
          model,
          provider_request_id: attempt.provider_request_id,
          provider_error: describeFailure(attempt.provider_failure as StoredFailure | null, visibility),
        }),
  };
}

/** The receipt as stored with the attempt (`providers/receipt.ts`). */
type StoredReceipt = RecordedAttemptView["receipts"][number];

/** The model's name belongs to the names of the provider. */
function describeReceipt(
  { feature, grade, delivered, answered, model }: StoredReceipt,
  visibility: Visibility,
): RecordedAttemptView["receipts"][number] {
  if (visibility === "positions") return { feature, grade, delivered };
  return {
    feature,
    grade,
    delivered,
    ...(answered === undefined ? {} : { answered }),
    ...(model === undefined ? {} : { model }),
  };
}

/** The failure as stored with the attempt (`providers/wire/provider-failure.ts`). */
interface StoredFailure {
  readonly status: number;
  readonly code: string | null;
  readonly requestId: string | null;
  readonly message: string | null;
}

function describeFailure(
  failure: StoredFailure | null,
  visibility: Exclude<Visibility, "positions">,
): NonNullable<RecordedAttemptView["provider_error"]> | null {
  if (failure === null) return null;
  const { status, code, requestId, message } = failure;
  return visibility === "all" ? { status, code, request_id: requestId, message } : { status, code };
}

function errorCode(job: RecordedJob | null): string | null {
  const error = job?.error;
  return typeof error === "object" && error !== null && "code" in error && typeof error.code === "string"
    ? error.code
    : null;
}

function usdOrNull(nanoUsd: bigint | null): string | null {
  return nanoUsd === null ? null : formatUsd(nanoUsd);
}

function toSeconds(milliseconds: bigint): number {
  return Number(milliseconds) / 1000;
}
