// A value that may already be there. Returning it without a promise saves a microtask per call on the hot path of a chat.
export type MaybePromise<T> = T | Promise<T>;
