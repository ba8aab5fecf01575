// Lists the request log, newest first and filtered, and reads the attempts of a page's requests in one more query [requests.list].
import { type Kysely, sql } from "kysely";
import type { RequestOutcome } from "../../contract/admin/request-list.ts";
import { REQUEST_OUTCOME } from "../../storage/schema/request-outcome.ts";
import { IN_ORDER, type RequestScope } from "./requests.ts";
import type { AttemptRow, RequestRow, Tables } from "../../storage/schema/tables.ts";

export interface RequestFilter extends RequestScope {
  readonly keyId: string | null;
  readonly from: Date | null;
  /** Exclusive upper bound. */
  readonly to: Date | null;
  readonly recordedFrom: Date | null;
  readonly outcome: RequestOutcome | null;
  readonly code: string | null;
}

/** The position after which the next page begins. */
export interface RequestPosition {
  /** Microseconds since the epoch, the database's resolution. */
  readonly at: bigint;
  readonly id: string;
}

export interface ListedRequest
  extends Pick<
    RequestRow,
    | "id"
    | "workspace_id"
    | "app_id"
    | "key_id"
    | "endpoint"
    | "at"
    | "status"
    | "code"
    | "test_mode"
    | "purpose"
    | "route"
    | "duration_ms"
    | "audio_ms"
    | "job_id"
    | "recorded_at"
  > {
  readonly outcome: RequestOutcome;
  readonly at_us: bigint;
}

const OUTCOME = sql<RequestOutcome>`${sql.raw(REQUEST_OUTCOME)}`;

export async function listRequests(
  db: Kysely<Tables>,
  filter: RequestFilter,
  after: RequestPosition | null,
  limit: number,
): Promise<readonly ListedRequest[]> {
  const { workspaceId, appId, keyId, from, to, recordedFrom, outcome, code } = filter;
  let query = db
    .selectFrom("requests")
    .select([
      "id",
      "workspace_id",
      "app_id",
      "key_id",
      "endpoint",
      "at",
      "status",
      "code",
      "test_mode",
      "purpose",
      "route",
      "duration_ms",
      "audio_ms",
      "job_id",
      "recorded_at",
      OUTCOME.as("outcome"),
      sql<bigint>`(extract(epoch from at) * 1000000)::bigint`.as("at_us"),
    ]);
  if (workspaceId !== null) query = query.where("workspace_id", "=", workspaceId);
  if (appId !== null) query = query.where("app_id", "=", appId);
  if (keyId !== null) query = query.where("key_id", "=", keyId);
  if (from !== null) query = query.where("at", ">=", from);
  if (to !== null) query = query.where("at", "<", to);
  if (recordedFrom !== null) query = query.where("recorded_at", ">=", recordedFrom);
  if (code !== null) query = query.where("code", "=", code);
  if (outcome !== null) query = query.where(OUTCOME, "=", outcome);
  // Repeats the condition of the partial index.
  if (outcome !== null && outcome !== "succeeded")
    query = query.where(sql<boolean>`(status >= 400 or code is not null)`);
  if (after !== null) {
    const at = sql`'epoch'::timestamptz + ${after.at}::bigint * interval '1 microsecond'`;
    query = query.where(sql<boolean>`(at, id) < (${at}, ${after.id})`);
  }
  return query.orderBy("at", "desc").orderBy("id", "desc").limit(limit).execute();
}

export type ListedAttempt = Pick<
  AttemptRow,
  "request_id" | "position" | "connection" | "provider" | "model" | "outcome" | "billing_class" | "charge_nano_usd"
>;

/** Attempts of the listed requests, in order. The caller has already checked the requests' owner. */
export async function listAttempts(
  db: Kysely<Tables>,
  requestIds: readonly string[],
): Promise<readonly ListedAttempt[]> {
  if (requestIds.length === 0) return [];
  return db
    .selectFrom("attempts")
    .select([
      "request_id",
      "position",
      "connection",
      "provider",
      "model",
      "outcome",
      "billing_class",
      "charge_nano_usd",
    ])
    .where("request_id", "in", [...requestIds])
    .orderBy(IN_ORDER)
    .orderBy("id")
    .execute();
}
