// Reserves memory for a large answer from the budget of unread answers. The reservation ends with the exchange.

export interface AnswerRoom {
  /** Call before the bytes are read or created. Disconnects the slowest readers if the budget is exhausted, then throws OVERLOADED. */
  reserve(bytes: number): void;
  /** Aborts when the caller disconnects. */
  readonly signal: AbortSignal;
}
