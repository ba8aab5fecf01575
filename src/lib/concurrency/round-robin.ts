// Round-robin by owner: the waiter of the owner that was served longest ago is next, so that one owner's backlog delays no other.

export interface Waiter {
  readonly owner: string;
}

export interface RoundRobin {
  /** Picks from waiters in order of arrival and marks the owner as served. Undefined if there is none. */
  next<W extends Waiter>(waiting: readonly W[]): W | undefined;
  /** Picks without marking. */
  peek<W extends Waiter>(waiting: readonly W[]): W | undefined;
  /** For an owner that was served without waiting. */
  markServed(owner: string): void;
}

/** An owner that was not served among this many counts as never served. */
const MAX_REMEMBERED = 1_000;

export function createRoundRobin(): RoundRobin {
  const served = new Map<string, number>();
  let latest = 0;
  const markServed = (owner: string): void => {
    // Deleted first, so that the map is ordered by time.
    served.delete(owner);
    served.set(owner, ++latest);
    if (served.size > MAX_REMEMBERED) served.delete(served.keys().next().value ?? "");
  };
  const peek = <W extends Waiter>(waiting: readonly W[]): W | undefined => {
    let [next] = waiting;
    for (const each of waiting) {
      if (next !== undefined && (served.get(each.owner) ?? 0) < (served.get(next.owner) ?? 0)) next = each;
    }
    return next;
  };
  return {
    markServed,
    peek,
    next: (waiting) => {
      const next = peek(waiting);
      if (next !== undefined) markServed(next.owner);
      return next;
    },
  };
}
