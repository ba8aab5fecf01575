// A database that does not answer before anything was begun is a refusal to be retried, not a fault (reliability G-10).
import { GatewayError } from "../contract/errors.ts";
import type { Soon } from "../lib/soon.ts";
import { isAway, isUndone } from "../storage/transact.ts";

/** For work that begins nothing: once something was begun, only its own steps can say what became of it. */
export function unlessAway<T>(work: Promise<T>): Promise<T>;
export function unlessAway<T>(work: Soon<T>): Soon<T>;
export function unlessAway<T>(work: Soon<T>): Soon<T> {
  return work instanceof Promise ? work.catch(refuseWhileAway) : work;
}

/** For work that is one transaction: where that was certainly undone, nothing has come of it. */
export function unlessUndone<T>(work: Promise<T>): Promise<T> {
  return work.catch((error: unknown) => {
    if (isUndone(error)) refuseWhileAway(error);
    throw error;
  });
}

/** The error itself where it is another. */
export function refuseWhileAway(error: unknown): never {
  if (!isAway(error)) throw error;
  throw new GatewayError("OVERLOADED", {
    message: "The gateway's database does not answer at the moment. Nothing was begun.",
    retryAfterSeconds: 2,
    cause: error,
  });
}
