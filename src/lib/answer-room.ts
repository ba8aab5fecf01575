// Room for an answer that is large before it is sent: reserved from the memory budget of unread answers, and given back when the exchange
// is over.

export interface AnswerRoom {
  /** Adds to what this answer holds, before it is read or made. Disconnects the slowest readers where that takes it; throws OVERLOADED. */
  reserve(bytes: number): void;
  /** Aborts when the caller is gone. */
  readonly signal: AbortSignal;
}
