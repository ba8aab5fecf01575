// What a step of the table of goals hands to its parent: figures, each with its goal if it has one.
export interface Reading {
  /** Readings of one name and unit are one row of the table, a column for each `of`. */
  readonly what: string;
  /** The storage of the gateway, or a baseline. */
  readonly of: string;
  readonly unit: "ms" | "MiB" | "per second" | "ratio" | "cores" | "streams";
  readonly value: number;
  /** Requests, jobs, texts, processes or samples behind the value. */
  readonly n: number;
  readonly goal: Goal | null;
}

export interface Goal {
  readonly kind: "at most" | "at least";
  readonly value: number;
}

export interface StepArgument {
  readonly step: string;
  /** From 0. The order of the storages alternates from one run to the next. */
  readonly run: number;
}

export interface StepResult {
  readonly readings: readonly Reading[];
  /** Everything measured, for later questions. */
  readonly data: unknown;
}

export function atMost(value: number): Goal {
  return { kind: "at most", value };
}

export function atLeast(value: number): Goal {
  return { kind: "at least", value };
}
