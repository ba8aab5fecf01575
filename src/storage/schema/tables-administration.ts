// Table types for audio URL allowlists, the audit log, credit grants, plans and prices. Part of tables.ts.
import type { ColumnType } from "kysely";
import type { Json, Bigint, Bytes, TimeWithDefault, TextOrNull } from "./columns.ts";

export interface AudioUrlDomainsTable {
  /** `platform` or a workspace id. */
  scope: string;
  domains: string[];
  updated_at: TimeWithDefault;
}

export interface AuditLogTable {
  id: ColumnType<bigint, never, never>;
  /** Null: the installation. */
  workspace_id: TextOrNull;
  at: ColumnType<Date, never, never>;
  /** Null: the configuration file. */
  actor_key_id: TextOrNull;
  action: string;
  object: string;
  before: ColumnType<unknown, string | null, never>;
  after: ColumnType<unknown, string | null, never>;
  /** The workspace's id, or `platform`. A trigger sets this and the following columns. */
  chain: ColumnType<string, never, never>;
  seq: ColumnType<bigint, never, never>;
  previous_hash: ColumnType<Buffer, never, never>;
  hash: ColumnType<Buffer, never, never>;
}

/** The last entry of each chain of the audit log. */
export interface AuditHeadsTable {
  /** `platform` or a workspace id. */
  scope: string;
  seq: Bigint;
  hash: Bytes;
}

export interface CreditGrantsTable {
  id: string;
  workspace_id: string;
  nano_usd: Bigint;
  note: string;
  actor_key_id: string;
  created_at: TimeWithDefault;
  /** SHA-256 of its Idempotency-Key. Null: it had none. */
  key_sha256: Buffer | null;
}

export interface PlansTable {
  id: string;
  monthly_chat_tokens: Bigint;
  credits_nano_usd: Bigint;
  managed_by: string;
}

export interface PricesTable {
  provider: string;
  model: string;
  definition: Json;
}
