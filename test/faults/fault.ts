// The interface of a trial of `npm run faults`: its guarantee, its number of runs, and its findings.
import type { Sayer } from "./progress.ts";

export interface Trials {
  readonly engine: string;
  /** Number of independent trials. */
  readonly n: number;
  readonly violations: readonly string[];
  readonly seconds: number;
  readonly figures?: Readonly<Record<string, number | string>>;
}

export interface FaultOptions {
  readonly n: number;
  readonly seed: number;
  readonly workers: number;
  readonly isShort: boolean;
  /** For trials of variable length. Null: the default of the form. */
  readonly minutes: number | null;
  /** Folder for samples. Null: they are printed. */
  readonly out: string | null;
  /** Through a transaction pooler, for trials that support it. */
  readonly pooler: boolean;
  /** With embedded storage, for trials that support both. */
  readonly embedded: boolean;
  /** Prints progress for people. */
  readonly say: Sayer;
}

export interface Fault {
  readonly about: string;
  /** The guarantees of `docs/reference/guarantees.md` that the trial checks: R1 to R20. */
  readonly promises: readonly string[];
  readonly defaultN: number;
  /** With `--short`, for every run of CI. */
  readonly shortN: number;
  run(options: FaultOptions): Promise<Trials>;
}
