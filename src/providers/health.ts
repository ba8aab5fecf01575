// Circuit breakers: a circuit opens for an (account, model) pair that keeps failing, so that callers do not queue behind it. It opens after
// 5 failures in a row, or half of at least 20 calls in 10 s [routing.circuit-opens], for 30 s times the number of openings, at most 300 s
// [routing.circuit-duration].
import type { FailureKind } from "./io.ts";

const CONSECUTIVE_FAILURES = 5;
const WINDOW_MS = 10_000;
const WINDOW_MIN_CALLS = 20;
/** A busy window needs no more than its last calls to be judged. */
const WINDOW_MAX_CALLS = 100;
const WINDOW_FAILURE_RATIO = 0.5;
const REST_STEP_MS = 30_000;
const MAX_REST_MS = 300_000;

/** Refusals of one request (4xx but 408 and 429, a missing feature, a hang-up) say nothing about the provider's health. */
const COUNTS_AS_FAILURE: Readonly<Record<FailureKind, boolean>> = {
  connect: true,
  rejected: false,
  unauthorized: false,
  payment: false,
  not_found: false,
  rate_limited: true,
  server_error: true,
  bad_reply: true,
  feature_dropped: false,
  unknown: true,
  timeout: true,
  aborted: false,
};

export interface Circuits {
  /** May a request go there now? Pure look: takes no probe. */
  isHealthy(key: string): boolean;
  /**
   * Called as an attempt begins: the first one after a rest is its probe, and nobody else is let by until that ends, or has lasted as
   * long as the rest. Answers what is to be called at its end; null: the attempt succeeded.
   */
  begin(key: string): (failure: FailureKind | null) => void;
}

export interface ReportingCircuits extends Circuits {
  /** Somebody knows that all is well again: who rests may be called at once, and what failed before counts no more. */
  close(keys: (key: string) => boolean): void;
  /** Of every key that was called since the start, by key. */
  report(): readonly CircuitReport[];
}

export interface CircuitReport {
  readonly key: string;
  readonly isHealthy: boolean;
  readonly state: "closed" | "open" | "half_open";
  readonly consecutive: number;
  readonly openings: number;
  /** Of the window. */
  readonly calls: number;
  readonly failures: number;
  readonly restUntilMs: number | null;
}

export function createCircuits(nowMs: () => number): ReportingCircuits {
  const circuits = new Map<string, Circuit>();
  const of = (key: string): Circuit => {
    const existing = circuits.get(key);
    if (existing !== undefined) return existing;
    const created = new Circuit();
    circuits.set(key, created);
    return created;
  };
  return {
    isHealthy: (key) => circuits.get(key)?.isHealthy(nowMs()) ?? true,
    begin: (key) => {
      const circuit = of(key);
      const probed = circuit.begin(nowMs());
      return (failure) => circuit.end(nowMs(), failure, probed);
    },
    close: (keys) => {
      for (const [key, circuit] of circuits) if (keys(key)) circuit.close();
    },
    report: () =>
      [...circuits]
        .toSorted(([left], [right]) => (left < right ? -1 : 1))
        .map(([key, circuit]) => ({ key, ...circuit.report(nowMs()) })),
  };
}

class Circuit {
  #consecutive = 0;
  #openings = 0;
  /** Since the start. */
  #rests = 0;
  #restUntilMs = 0;
  #probedUntilMs = 0;
  /** The latest last; up to twice as many as are looked at, so that not every call shifts all of them. */
  #recent: { readonly atMs: number; readonly failed: boolean }[] = [];

  isHealthy(nowMs: number): boolean {
    if (this.#restUntilMs === 0) return true;
    return nowMs >= Math.max(this.#restUntilMs, this.#probedUntilMs);
  }

  /** The rest that it is a probe after; null: it is none. */
  begin(nowMs: number): number | null {
    if (this.#restUntilMs === 0 || !this.isHealthy(nowMs)) return null;
    // It may be a live session, or a stream, which tells how it went when it is over.
    this.#probedUntilMs = nowMs + this.#restMs();
    return this.#rests;
  }

  /** What began before a rest says nothing new when it ends in it: the rest gets no longer by it, and no shorter. */
  end(nowMs: number, failure: FailureKind | null, probed: number | null): void {
    // Another probe may have closed the circuit meanwhile, or opened it again.
    const decides = probed === this.#rests && this.#restUntilMs !== 0;
    if (decides) this.#probedUntilMs = 0;
    if (failure !== null && !COUNTS_AS_FAILURE[failure]) return;
    if (failure === null) {
      this.#consecutive = 0;
      if (decides) this.close();
      this.#record(nowMs, false);
      return;
    }
    this.#consecutive += 1;
    this.#record(nowMs, true);
    if (decides || (this.#restUntilMs === 0 && this.#tripped(nowMs))) this.#open(nowMs);
  }

  report(nowMs: number): Omit<CircuitReport, "key"> {
    const recent = this.#window(nowMs);
    const isResting = this.#restUntilMs !== 0;
    return {
      isHealthy: this.isHealthy(nowMs),
      state: !isResting ? "closed" : nowMs < this.#restUntilMs ? "open" : "half_open",
      consecutive: this.#consecutive,
      openings: this.#openings,
      calls: recent.length,
      failures: recent.filter((call) => call.failed).length,
      restUntilMs: isResting ? this.#restUntilMs : null,
    };
  }

  /** A probe under way decides nothing any more. */
  close(): void {
    this.#restUntilMs = 0;
    this.#probedUntilMs = 0;
    this.#openings = 0;
    this.#consecutive = 0;
    this.#recent = [];
  }

  #open(nowMs: number): void {
    this.#openings += 1;
    this.#rests += 1;
    this.#restUntilMs = nowMs + this.#restMs();
    this.#consecutive = 0;
  }

  #restMs(): number {
    return Math.min(MAX_REST_MS, REST_STEP_MS * this.#openings);
  }

  #tripped(nowMs: number): boolean {
    if (this.#consecutive >= CONSECUTIVE_FAILURES) return true;
    const recent = this.#window(nowMs);
    const failed = recent.filter((call) => call.failed).length;
    return recent.length >= WINDOW_MIN_CALLS && failed >= recent.length * WINDOW_FAILURE_RATIO;
  }

  #window(nowMs: number): readonly { readonly failed: boolean }[] {
    return this.#recent.slice(-WINDOW_MAX_CALLS).filter((call) => call.atMs >= nowMs - WINDOW_MS);
  }

  #record(nowMs: number, failed: boolean): void {
    if (this.#recent.length >= 2 * WINDOW_MAX_CALLS) this.#recent = this.#recent.slice(-WINDOW_MAX_CALLS);
    this.#recent.push({ atMs: nowMs, failed });
  }
}
