// What the operator and workspaces set up beside tenants and routes, and the log of it; part of tables.ts.
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
  /** null: the platform. */
  workspace_id: TextOrNull;
  at: ColumnType<Date, never, never>;
  /** null: the configuration file. */
  actor_key_id: TextOrNull;
  action: string;
  object: string;
  before: ColumnType<unknown, string | null, never>;
  after: ColumnType<unknown, string | null, never>;
  /** The workspace, or `platform`; this and the rest are the database's own doing. */
  chain: ColumnType<string, never, never>;
  seq: ColumnType<bigint, never, never>;
  previous_hash: ColumnType<Buffer, never, never>;
  hash: ColumnType<Buffer, never, never>;
}

/** Where each chain of the audit log ends. */
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
  /** Of its Idempotency-Key; null: it had none. */
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
