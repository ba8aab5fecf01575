// Whose turn it is among the groups of a queue [jobs.fairness]: one that runs nothing and was not served in this round comes
// before all others, so that a single message never waits for the backlogs of several.

export interface Turns {
  /** Somebody may be waiting for a first turn. */
  isOpen(): boolean;
  /** Those to be left out of a look for one, which begins now. */
  had(busyGroups: readonly string[]): string[];
  took(group: string | null): void;
  /** Nobody was found: the round is over. */
  end(busyGroups: readonly string[]): void;
  /** A message may have come. */
  news(): void;
}

export function createTurns(): Turns {
  const served = new Set<string>();
  let isQuiet = false;
  let hasNews = false;
  return {
    isOpen: () => !isQuiet,
    had: (busyGroups) => {
      hasNews = false;
      return [...new Set([...served, ...busyGroups])];
    },
    took: (group) => {
      if (group !== null) served.add(group);
    },
    end: (busyGroups) => {
      // Where all who wait are at work already, or there is but one, looking again is of no use before there is news.
      const waiting = new Set([...served, ...busyGroups]);
      isQuiet = !hasNews && (waiting.size <= 1 || waiting.size === busyGroups.length);
      served.clear();
    },
    news: () => {
      isQuiet = false;
      hasNews = true;
    },
  };
}
