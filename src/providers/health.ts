// Circuit breakers per (account, model), so that callers do not wait for a failing one. A circuit opens after 5 failures in a row, or half of at least 20 calls
// in 10 s [routing.circuit-opens], for 30 s times the number of openings, at most 300 s [routing.circuit-duration].
import type { FailureKind } from "./io.ts";

const CONSECUTIVE_FAILURES = 5;
const WINDOW_MS = 10_000;
const WINDOW_MIN_CALLS = 20;
/** A busy window is judged by its last calls. */
const WINDOW_MAX_CALLS = 100;
const WINDOW_FAILURE_RATIO = 0.5;
const OPEN_STEP_MS = 30_000;
const MAX_OPEN_MS = 300_000;

/** Refusals of one request (4xx except 408 and 429, a missing feature, a cancellation) prove nothing about the provider's health. */
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
  overloaded: false,
  unknown: true,
  timeout: true,
  aborted: false,
};

export interface Circuits {
  /** Whether a request may be sent now. Read-only: claims no probe. */
  isHealthy(key: string): boolean;
  /**
   * Called when an attempt begins. The first attempt after the open period is the probe, and all others are blocked until it ends, or until it has lasted as
   * long as the open period. Returns the callback for the attempt's end: null means success.
   */
  begin(key: string): (failure: FailureKind | null) => void;
}

export interface ReportingCircuits extends Circuits {
  /** Closes circuits on request: calls are allowed at once, and earlier failures no longer count. */
  close(keys: (key: string) => boolean): void;
  /** One report per key that was called since the start, by key. */
  report(): readonly CircuitReport[];
}

export interface CircuitReport {
  readonly key: string;
  readonly isHealthy: boolean;
  readonly state: "closed" | "open" | "half_open";
  readonly consecutive: number;
  readonly openings: number;
  /** Calls in the window. */
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
  /** Openings since the start. */
  #totalOpenings = 0;
  #openUntilMs = 0;
  #probedUntilMs = 0;
  /** In order of time. Up to twice the size of the window, so that not every call shifts the array. */
  #recent: { readonly atMs: number; readonly failed: boolean }[] = [];

  isHealthy(nowMs: number): boolean {
    if (this.#openUntilMs === 0) return true;
    return nowMs >= Math.max(this.#openUntilMs, this.#probedUntilMs);
  }

  /** Returns the number of the opening that the attempt probes. Null: not a probe. */
  begin(nowMs: number): number | null {
    if (this.#openUntilMs === 0 || !this.isHealthy(nowMs)) return null;
    // The probe may be a live session or a stream, with an outcome that is known only at its end.
    this.#probedUntilMs = nowMs + this.#openMs();
    return this.#totalOpenings;
  }

  /** An attempt that began before the circuit opened and ends while it is open changes nothing: the open period is neither extended nor shortened. */
  end(nowMs: number, failure: FailureKind | null, probed: number | null): void {
    // Another probe may have closed or reopened the circuit meanwhile.
    const decides = probed === this.#totalOpenings && this.#openUntilMs !== 0;
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
    if (decides || (this.#openUntilMs === 0 && this.#tripped(nowMs))) this.#open(nowMs);
  }

  report(nowMs: number): Omit<CircuitReport, "key"> {
    const recent = this.#window(nowMs);
    const isOpen = this.#openUntilMs !== 0;
    return {
      isHealthy: this.isHealthy(nowMs),
      state: !isOpen ? "closed" : nowMs < this.#openUntilMs ? "open" : "half_open",
      consecutive: this.#consecutive,
      openings: this.#openings,
      calls: recent.length,
      failures: recent.filter((call) => call.failed).length,
      restUntilMs: isOpen ? this.#openUntilMs : null,
    };
  }

  /** A running probe no longer decides. */
  close(): void {
    this.#openUntilMs = 0;
    this.#probedUntilMs = 0;
    this.#openings = 0;
    this.#consecutive = 0;
    this.#recent = [];
  }

  #open(nowMs: number): void {
    this.#openings += 1;
    this.#totalOpenings += 1;
    this.#openUntilMs = nowMs + this.#openMs();
    this.#consecutive = 0;
  }

  #openMs(): number {
    return Math.min(MAX_OPEN_MS, OPEN_STEP_MS * this.#openings);
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
