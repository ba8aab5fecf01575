// The tables of what the operator and the workspaces configure: provider accounts, routes and their versions.
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
  /** What is shown of it. */
  credential_last4: TextOrNull;
  settings: JsonWithDefault;
  managed_by: string;
  created_at: TimeWithDefault;
  updated_at: TimeWithDefault;
}

/** Of an account, or of one model on it. */
export interface ConnectionPausesTable {
  scope: string;
  connection: string;
  /** Null: all of them. */
  model: TextOrNull;
  ends_at: Time;
  reason: TextOrNull;
  actor_key_id: string;
  created_at: TimeWithDefault;
}

export interface RoutesTable {
  scope: string;
  id: string;
  /** The version that serves; null with its number where nothing was published yet. */
  definition: ColumnType<unknown, string | null | undefined, string | null>;
  version: NumberOrNull;
  latest_version: Generated<number>;
  /** The one that served before this one: where a roll-back leads. */
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
  /** When it served first; null: a draft. */
  published_at: TimeOrNull;
}

/** One row; its number grows with every change to connections, routes and prices. */
export interface DirectoryStateTable {
  id: Generated<boolean>;
  version: Bigint;
}
