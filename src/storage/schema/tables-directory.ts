// Table types for what the operator and workspaces configure: provider accounts, pauses, routes and their versions. Part of tables.ts.
import type { ColumnType, Generated } from "kysely";
import type {
  Json,
  JsonWithDefault,
  Bigint,
  BytesOrNull,
  Time,
  TimeWithDefault,
  TimeOrNull,
  NumberOrNull,
  TextOrNull,
} from "./columns.ts";

export interface ConnectionsTable {
  /** `platform` or a workspace id. */
  scope: string;
  id: string;
  kind: string;
  base_url: TextOrNull;
  credential: BytesOrNull;
  /** The last four characters, for display. */
  credential_last4: TextOrNull;
  settings: JsonWithDefault;
  managed_by: string;
  created_at: TimeWithDefault;
  updated_at: TimeWithDefault;
}

/** Pauses of an account, or of one model on it. */
export interface ConnectionPausesTable {
  scope: string;
  connection: string;
  /** Null: all models. */
  model: TextOrNull;
  ends_at: Time;
  reason: TextOrNull;
  actor_key_id: string;
  created_at: TimeWithDefault;
}

/** What a provider's own list of models says of their ends. */
export interface ModelListsTable {
  scope: string;
  connection: string;
  /** When it was last asked for by the daily task. */
  asked_at: TimeOrNull;
  read_at: TimeOrNull;
  /** Model → first day of refusal. */
  ends: JsonWithDefault;
}

export interface RoutesTable {
  scope: string;
  id: string;
  /** The published version's definition. Null, like its number, before the first publication. */
  definition: ColumnType<unknown, string | null | undefined, string | null>;
  version: NumberOrNull;
  latest_version: Generated<number>;
  /** The version published before this one, the target of a roll-back. */
  previous_version: NumberOrNull;
  managed_by: string;
  created_at: TimeWithDefault;
  updated_at: TimeWithDefault;
}

export interface RouteVersionsTable {
  scope: string;
  route_id: string;
  version: number;
  definition: Json;
  /** Null: the configuration file. */
  actor_key_id: TextOrNull;
  created_at: TimeWithDefault;
  /** Time of the first publication. Null: a draft. */
  published_at: TimeOrNull;
}

/** A single row with a number that increases with every change to connections, routes and prices. */
export interface DirectoryStateTable {
  id: Generated<boolean>;
  version: Bigint;
}
