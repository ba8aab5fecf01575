// What the parent of the budget trials and the gateways that are killed in them say to each other.
import type { ConfigurationFile } from "../../../src/config/schema/file.ts";

export interface BudgetSetup {
  readonly dataDir: string;
  /** Null: embedded storage in `dataDir`. */
  readonly databaseUrl: string | null;
  readonly file: ConfigurationFile;
}

/** Of one app, once nothing is under way any more. */
export interface AppSums {
  readonly app: string;
  /** Attempts. */
  readonly open: number;
  readonly succeeded: number;
  readonly unresolved: number;
  readonly chargedNanoUsd: number;
  readonly openLeases: number;
  /** What dead processes had not settled, as their leases say. */
  readonly unresolvedNanoUsd: number;
  /** Of its budget. */
  readonly spentNanoUsd: number;
  readonly reservedNanoUsd: number;
}

/** `resolve`: an hour later, when the sweeps have been. */
export type ToGateway = "resolve" | "close";

export type FromGateway =
  | { readonly kind: "ready"; readonly origin: string }
  | { readonly kind: "resolved"; readonly sums: readonly AppSums[] };
