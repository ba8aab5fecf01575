// Round-robin state of a queue's groups [jobs.fairness]: a group that runs nothing and was not served in this round comes before
// all others, so that a single message never waits for the backlogs of several groups.

export interface GroupOrder {
  /** Whether a group that was not served in this round may have a message. */
  isOpen(): boolean;
  /** Starts a search for such a group, and returns the groups to ignore. */
  had(busyGroups: readonly string[]): string[];
  /** Records that a message of the group was dispatched. */
  took(group: string | null): void;
  /** The search found no message, so the round is over. */
  end(busyGroups: readonly string[]): void;
  /** A new message may have arrived. */
  news(): void;
}

export function createGroupOrder(): GroupOrder {
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
      // If every waiting group is already running, or there is only one, searching again is useless until a message arrives.
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
