// Whose turn it is among several who wait for the same thing: theirs who had one longest ago, so that nobody waits behind all that another
// has brought (reliability 7, G-08).

export interface Waiting {
  readonly owner: string;
}

export interface FairTurns {
  /** Of those who may go, in the order in which they came; undefined: there is none. It has its turn now. */
  next<W extends Waiting>(waiting: readonly W[]): W | undefined;
  /** The same, and it has its turn when it is said to have had it. */
  peek<W extends Waiting>(waiting: readonly W[]): W | undefined;
  /** Had its turn without waiting. */
  had(owner: string): void;
}

/** Whoever had none among so many counts as one who never had. */
const MOST_REMEMBERED = 1_000;

export function createFairTurns(): FairTurns {
  const turns = new Map<string, number>();
  let latest = 0;
  const had = (owner: string): void => {
    // The longest ago comes first.
    turns.delete(owner);
    turns.set(owner, ++latest);
    if (turns.size > MOST_REMEMBERED) turns.delete(turns.keys().next().value ?? "");
  };
  const peek = <W extends Waiting>(waiting: readonly W[]): W | undefined => {
    let [next] = waiting;
    for (const each of waiting) {
      if (next !== undefined && (turns.get(each.owner) ?? 0) < (turns.get(next.owner) ?? 0)) next = each;
    }
    return next;
  };
  return {
    had,
    peek,
    next: (waiting) => {
      const next = peek(waiting);
      if (next !== undefined) had(next.owner);
      return next;
    },
  };
}
