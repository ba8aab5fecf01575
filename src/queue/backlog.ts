// Knows when a fetch would find nothing: an earlier one has found all messages but those of groups that are still ignored, and no message has come since. Without
// it, every other fetch of a queue with one busy group finds nothing.

export interface Backlog {
  /** A message may have arrived or come back. */
  news(): void;
  /** No message is waiting. */
  isEmpty(): boolean;
  /** Null: there is none but of these groups. */
  search(ignoredGroups: readonly string[]): BacklogSearch | null;
}

export interface BacklogSearch {
  /** The fetch has found fewer messages than it asked for, and has left none but of these groups. */
  foundAll(leftGroups: readonly string[]): void;
}

export function createBacklog(): Backlog {
  /** All waiting messages belong to these groups. Null: unknown. */
  let groups: readonly string[] | null = null;
  let revision = 0;
  return {
    news: () => {
      groups = null;
      revision += 1;
    },
    isEmpty: () => groups?.length === 0,
    search: (ignoredGroups) => {
      const ignored = new Set(ignoredGroups);
      if (groups?.every((group) => ignored.has(group)) === true) return null;
      const begunAt = revision;
      return {
        foundAll: (leftGroups) => {
          if (begunAt === revision) groups = [...ignoredGroups, ...leftGroups];
        },
      };
    },
  };
}
