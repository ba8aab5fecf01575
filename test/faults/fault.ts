// What a trial of `npm run faults` is: its promise, how often it runs, and what it found.
import type { Sayer } from "./progress.ts";

export interface Trials {
  readonly engine: string;
  /** Independent trials. */
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
  /** Of trials that last as long as they are asked to; null: as their form says. */
  readonly minutes: number | null;
  /** Where samples are kept; null: they are printed. */
  readonly out: string | null;
  /** Through a transaction pooler, of trials that know it. */
  readonly pooler: boolean;
  /** With embedded storage, of trials that know both. */
  readonly embedded: boolean;
  /** How far it is, for people. */
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
