// Messages between the parent of the budget trials and the gateways that are killed in them.
import type { ConfigurationFile } from "../../../src/config/schema/file.ts";

export interface BudgetSetup {
  readonly dataDir: string;
  /** Null: embedded storage in `dataDir`. */
  readonly databaseUrl: string | null;
  readonly file: ConfigurationFile;
}

/** Of one app, once nothing is in flight. */
export interface AppSums {
  readonly app: string;
  /** Attempts. */
  readonly open: number;
  readonly succeeded: number;
  readonly unresolved: number;
  readonly chargedNanoUsd: number;
  readonly openLeases: number;
  /** Unsettled by dead processes, from their leases. */
  readonly unresolvedNanoUsd: number;
  /** Of its budget. */
  readonly spentNanoUsd: number;
  readonly reservedNanoUsd: number;
}

/** `resolve`: an hour later, after the sweeps. */
export type ToGateway = "resolve" | "close";

export type FromGateway =
  | { readonly kind: "ready"; readonly origin: string }
  | { readonly kind: "resolved"; readonly sums: readonly AppSums[] };
