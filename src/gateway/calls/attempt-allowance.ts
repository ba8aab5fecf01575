// How many targets one request may still call. Pieces, channels, uploads and polls on one target count as one.

export interface AttemptAllowance {
  readonly max: number;
  /** Counts one target; false: the limit is reached, and no other may be called. */
  take(): boolean;
  /** The target that was counted last was not called: the budget refused it. */
  giveBack(): void;
  /** The same allowance for an earlier step, which leaves so many to the step behind it. */
  leaving(count: number): AttemptAllowance;
}

/** `used`: by those that were called before. */
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
