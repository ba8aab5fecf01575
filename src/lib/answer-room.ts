// The interface through which code reserves memory for a large answer from the process's budget for unread answers. The reservation ends with the request.

export interface AnswerRoom {
  /** Call before the bytes are read or created. Disconnects the slowest readers if the budget is exhausted, then throws OVERLOADED. */
  reserve(bytes: number): void;
  /** Aborts when the caller disconnects. */
  readonly signal: AbortSignal;
}
