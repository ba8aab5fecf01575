// What an unavailable database means to a caller: before anything was begun a refusal to be retried, after it an unknown outcome.
import { GatewayError } from "../../contract/errors.ts";
import type { MaybePromise } from "../../lib/concurrency/maybe-promise.ts";
import { isDatabaseUnavailable } from "../../storage/database-faults.ts";
import { isRolledBack } from "../../storage/transact.ts";

export { isDatabaseUnavailable } from "../../storage/database-faults.ts";

/** For work that begins nothing: once something was begun, only its own steps can say what became of it. */
export function mapDatabaseUnavailable<T>(work: Promise<T>): Promise<T>;
export function mapDatabaseUnavailable<T>(work: MaybePromise<T>): MaybePromise<T>;
export function mapDatabaseUnavailable<T>(work: MaybePromise<T>): MaybePromise<T> {
  return work instanceof Promise ? work.catch(throwIfDatabaseUnavailable) : work;
}

/** For work that is one transaction: where that was certainly undone, nothing has come of it. */
export function mapRolledBack<T>(work: Promise<T>): Promise<T> {
  return work.catch((error: unknown) => {
    if (isRolledBack(error)) throwIfDatabaseUnavailable(error);
    throw error;
  });
}

/** The error itself where it is another. */
export function throwIfDatabaseUnavailable(error: unknown): never {
  if (!isDatabaseUnavailable(error)) throw error;
  throw databaseUnavailable(error);
}

/** Nothing was begun, or nothing that a retry under the same key would repeat. */
export function databaseUnavailable(cause: unknown): GatewayError {
  return new GatewayError("OVERLOADED", {
    message: "The gateway's database is not available at the moment. Nothing was sent to a provider.",
    retryAfterSeconds: 2,
    cause,
  });
}

/** A commit may have been made: repeating the request could repeat its effect. */
export function changeUnconfirmed(cause: unknown): GatewayError {
  return new GatewayError("OVERLOADED", {
    message:
      "The gateway's database became unavailable before it confirmed the change. It may have been made: look before you send the request again.",
    retryable: false,
    cause,
  });
}

/** A provider was called, and what became of the call could not be stored. */
export function resultNotStored(cause: unknown): GatewayError {
  return new GatewayError("PROVIDER_RESULT_UNKNOWN", {
    message:
      "The request was sent to a provider, and the gateway's database was not available to store what came of it. Nothing was charged and no other provider was tried.",
    cause,
  });
}
