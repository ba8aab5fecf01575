// What can be said at once is, so that nobody waits for a turn: each is a step of V8's for every call.
export type Soon<T> = T | Promise<T>;
