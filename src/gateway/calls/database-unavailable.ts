// Maps an unavailable database to the caller's error: a retryable refusal if nothing was started, otherwise an unknown outcome.
import { GatewayError } from "../../contract/errors.ts";
import { isDatabaseUnavailable } from "../../storage/database-faults.ts";
import { isRolledBack } from "../../storage/transact.ts";

export { isDatabaseUnavailable } from "../../storage/database-faults.ts";

/** For work that starts nothing. After a start, only the steps themselves know the outcome. */
export function mapDatabaseUnavailable<T>(work: Promise<T>): Promise<T> {
  return work.catch(throwIfDatabaseUnavailable);
}

/** For work that is one transaction: if it was certainly rolled back, nothing happened. */
export function mapRolledBack<T>(work: Promise<T>): Promise<T> {
  return work.catch((error: unknown) => {
    if (isRolledBack(error)) throwIfDatabaseUnavailable(error);
    throw error;
  });
}

/** Throws any other error unchanged. */
export function throwIfDatabaseUnavailable(error: unknown): never {
  if (!isDatabaseUnavailable(error)) throw error;
  throw databaseUnavailable(error);
}

/** Nothing was started, or nothing that a retry with the same key would repeat. */
export function databaseUnavailable(cause: unknown): GatewayError {
  return new GatewayError("OVERLOADED", {
    message: "The gateway's database is unavailable. Nothing was sent to a provider.",
    retryAfterSeconds: 2,
    cause,
  });
}

/** The change may have been committed, so that a retry could repeat its effect. */
export function changeUnconfirmed(cause: unknown): GatewayError {
  return new GatewayError("OVERLOADED", {
    message:
      "The gateway's database became unavailable before it confirmed the change. It may have been made: check before you send the request again.",
    retryable: false,
    cause,
  });
}

/** A provider was called, and the outcome of the call could not be stored. */
export function resultNotStored(cause: unknown): GatewayError {
  return new GatewayError("PROVIDER_RESULT_UNKNOWN", {
    message:
      "The request was sent to a provider, but the gateway's database was unavailable, so its result could not be stored. Nothing was charged and no other provider was tried.",
    cause,
  });
}
