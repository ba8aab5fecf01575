// Messages between the parent of the kill trials and the gateway process that dies in them.

/** Points between the gateway's own steps at which the process kills itself. */
export const INNER_POINTS = [
  "after-parse",
  "after-slot-insert",
  "before-dispatch-commit",
  "after-dispatch-commit",
  "before-settle-commit",
  "after-settle-commit",
] as const;
export type InnerPoint = (typeof INNER_POINTS)[number];

/** Those of a job's submission. */
export const SUBMIT_POINTS = [
  "after-parse",
  "after-slot-insert",
  "after-object-put",
  "before-submit-commit",
  "after-submit-commit",
] as const;
export type SubmitPoint = (typeof SUBMIT_POINTS)[number];

/** The process's only argument. */
export interface ChildSetup {
  readonly dataDir: string;
  /** Null: embedded storage in `dataDir`. */
  readonly databaseUrl: string | null;
  readonly providerUrl: string;
}

export type Ask =
  | { readonly kind: "arm"; readonly point: InnerPoint | SubmitPoint }
  /** Terminates every session of its database at this point; the process survives. */
  | { readonly kind: "cut"; readonly point: InnerPoint }
  /** Stops the database's clock at this time. */
  | { readonly kind: "clock"; readonly at: string }
  | { readonly kind: "sweep" }
  /** Removes objects without a row, as the sweep does an hour later. */
  | { readonly kind: "orphans" }
  | { readonly kind: "facts"; readonly key: string; readonly since: string }
  | { readonly kind: "close" };

export interface Facts {
  /** Null: the key is free. */
  readonly slot: string | null;
  /** Of one trial. */
  readonly attempts: readonly {
    readonly state: string;
    readonly outcome: string | null;
    readonly unresolved: boolean;
    readonly chargeNanoUsd: number;
  }[];
  /** Jobs created since. */
  readonly jobs: number;
  /** Recordings in the object store. */
  readonly recordings: number;
  /** Totals so far: charges of attempts, and spend of budgets. */
  readonly chargedNanoUsd: number;
  readonly spentNanoUsd: number;
  readonly reservedNanoUsd: number;
}

export type ToChild = { readonly id: number; readonly ask: Ask };
export type FromChild =
  | { readonly kind: "ready"; readonly origin: string }
  | { readonly kind: "answer"; readonly id: number; readonly facts: Facts | null }
  | { readonly kind: "failed"; readonly id: number; readonly message: string };
