// Limits how many targets one request may call (`max_attempts_per_request`). Pieces, channels, uploads and polls on one target count as one.

export interface AttemptAllowance {
  readonly max: number;
  /** Counts one target. Returns false if the limit is reached and no other target may be called. */
  take(): boolean;
  /** Uncounts the last target, which was not called because the budget refused it. */
  giveBack(): void;
  /** The same allowance for an earlier step, which reserves `count` targets for the step after it. */
  leaving(count: number): AttemptAllowance;
}

/** `used`: targets that were called before. */
export function createAttemptAllowance(max: number, used = 0): AttemptAllowance {
  let taken = used;
  const upTo = (limit: number): AttemptAllowance => ({
    max: limit,
    take: () => {
      if (taken >= limit) return false;
      taken += 1;
      return true;
    },
    giveBack: () => {
      taken -= 1;
    },
    leaving: (count) => upTo(limit - count),
  });
  return upTo(max);
}
