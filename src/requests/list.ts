// Lists the request log with what an administrator sees of each request before opening its record [requests.list].
import { brand, type WorkspaceId } from "../contract/ids.ts";
import type { ListedRequestView, RequestOutcome } from "../contract/admin/request-list.ts";
import type { RecordedPurpose } from "../gateway/request-record.ts";
import { pageOf } from "../lib/list-page.ts";
import { formatUsd } from "../metering/money.ts";
import type { Database } from "../storage/database.ts";
import { asWorkspaceOrSystem } from "../storage/system.ts";
import {
  listAttempts,
  type ListedAttempt,
  type ListedRequest,
  listRequests as readPage,
  type RequestPosition,
} from "./store/request-list.ts";

export interface RequestQuestion {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly recorded_from?: string | undefined;
  readonly app?: string | undefined;
  readonly key?: string | undefined;
  readonly outcome?: RequestOutcome | undefined;
  readonly code?: string | undefined;
}

export interface PageRequest {
  readonly limit: number;
  /** Cursor at the end of the previous page. */
  readonly after: string | null;
}

export interface RequestPage {
  readonly data: readonly ListedRequestView[];
  /** Cursor of the next page. Null: this is the last page. */
  readonly end: string | null;
}

/** Lists the requests of a workspace or, for the operator (`workspaceId` null), of all, then including those without a valid key. */
export async function listRequests(
  database: Database,
  workspaceId: WorkspaceId | null,
  question: RequestQuestion,
  { limit, after }: PageRequest,
): Promise<RequestPage> {
  const { from, to, recorded_from: recordedFrom, app, key, outcome, code } = question;
  const filter = {
    workspaceId,
    appId: app === undefined ? null : brand("app", app),
    keyId: key ?? null,
    from: dateOf(from),
    to: dateOf(to),
    recordedFrom: dateOf(recordedFrom),
    outcome: outcome ?? null,
    code: code ?? null,
  };
  const position = after === null ? null : readPosition(after);
  const { page, nextCursor, calls } = await asWorkspaceOrSystem(database, workspaceId, async (db) => {
    const found = pageOf(await readPage(db, filter, position, limit + 1), limit);
    const ids = found.page.map(({ id }) => id);
    return { ...found, calls: await listAttempts(db, ids) };
  });
  const last = page.at(-1);
  const attempts = Map.groupBy(calls, ({ request_id: id }) => id);
  return {
    data: page.map((row) => describe(row, attempts.get(row.id) ?? [])),
    end: nextCursor === null || last === undefined ? null : `${last.at_us}.${last.id}`,
  };
}

const POSITION = /^(\d{1,18})\.(req_[0-9a-z]{26})$/u;

export function isRequestPosition(position: string): boolean {
  return POSITION.test(position);
}

function readPosition(position: string): RequestPosition {
  const [, at = "0", id = ""] = POSITION.exec(position) ?? [];
  return { at: BigInt(at), id };
}

function describe(row: ListedRequest, attempts: readonly ListedAttempt[]): ListedRequestView {
  const purpose = row.purpose as RecordedPurpose | null;
  return {
    object: "request",
    id: row.id,
    created_at: row.at.toISOString(),
    recorded_at: row.recorded_at.toISOString(),
    endpoint: row.endpoint,
    outcome: row.outcome,
    status: row.status,
    code: row.code,
    workspace: row.workspace_id,
    app: row.app_id,
    key: row.key_id,
    test_mode: row.test_mode,
    purpose:
      purpose === null ? null : { requested: purpose.requested, applied: purpose.applied, source: purpose.source },
    route: row.route,
    attempts: attempts.map(({ position, connection, provider, model, outcome, billing_class }) => ({
      position,
      connection,
      provider,
      model,
      outcome,
      billing_class,
    })),
    duration_seconds: Number(row.duration_ms) / 1000,
    audio_seconds: row.audio_ms === null ? null : Number(row.audio_ms) / 1000,
    charge_usd: formatUsd(attempts.reduce((sum, { charge_nano_usd: charge }) => sum + (charge ?? 0n), 0n)),
    job_id: row.job_id,
  };
}

function dateOf(time: string | undefined): Date | null {
  return time === undefined ? null : new Date(time);
}
