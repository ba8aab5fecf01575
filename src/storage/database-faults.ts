// Classifies database errors in one table: unavailable (the caller retries), conflict (the transaction is repeated), bad data, or a bug.
import { errorCode } from "../lib/error-code.ts";

export type DatabaseFault =
  /** The server cannot be reached, ended the session, or cannot run this statement now. */
  | "unavailable"
  /** Rolled back for certain. The transaction may succeed when repeated. Counts as unavailable once the retries are exhausted. */
  | "conflict"
  /** A value out of range or a violated constraint. The transaction was rolled back for certain. */
  | "bad_data"
  | "bug";

/** SQLSTATEs by class (two characters) or code. A code takes precedence over its class. Others are bugs. */
const SQLSTATES: Readonly<Record<string, DatabaseFault>> = {
  /** connection exceptions, including PgBouncer's refusals */
  "08": "unavailable",
  "22": "bad_data",
  "23": "bad_data",
  /** read_only_sql_transaction: a standby, or a primary that was demoted */
  "25006": "unavailable",
  /** idle_in_transaction_session_timeout, transaction_timeout */
  "25P03": "unavailable",
  "25P04": "unavailable",
  /** the login of a running gateway is refused: the password was changed, or pg_hba.conf does not admit it for now */
  "28": "unavailable",
  /** invalid_catalog_name: the database is being restored under another name */
  "3D000": "unavailable",
  /** serialization_failure, statement_completion_unknown, deadlock_detected */
  "40001": "conflict",
  "40003": "unavailable",
  "40P01": "conflict",
  /** insufficient resources: disk full, out of memory, too many connections */
  "53": "unavailable",
  /** object_in_use, lock_not_available */
  "55006": "unavailable",
  "55P03": "unavailable",
  /** query_canceled, and the shutdowns and starts of 57P01 to 57P05 */
  "57": "unavailable",
  /** system errors of the server's machine: io_error, undefined_file */
  "58": "unavailable",
};

/** Socket and DNS error codes of Node.js. */
const SOCKET_CODES: ReadonlySet<string> = new Set([
  "EADDRNOTAVAIL",
  "EAI_AGAIN",
  "ECONNABORTED",
  "ECONNREFUSED",
  "ECONNRESET",
  "EHOSTDOWN",
  "EHOSTUNREACH",
  "ENETDOWN",
  "ENETRESET",
  "ENETUNREACH",
  "ENOBUFS",
  "ENOTCONN",
  "ENOTFOUND",
  "EPIPE",
  "ERR_SOCKET_CLOSED",
  "ERR_STREAM_DESTROYED",
  "ERR_STREAM_WRITE_AFTER_END",
  "ETIMEDOUT",
]);

/** The driver's errors without a code. */
const MESSAGES =
  /^(Connection terminated|Connection error|Client (has encountered|was closed)|timeout exceeded when trying to connect|Query read timeout|Cannot use a pool after calling end|The server does not support SSL|There was an error establishing an SSL connection)/u;

const SQLSTATE = /^[0-9A-Z]{5}$/u;

export function databaseFaultOf(error: unknown): DatabaseFault {
  const code = errorCode(error);
  if ((code !== null && SOCKET_CODES.has(code)) || isConnectError(error)) return "unavailable";
  if (code !== null && SQLSTATE.test(code)) return SQLSTATES[code] ?? SQLSTATES[code.slice(0, 2)] ?? "bug";
  return error instanceof Error && MESSAGES.test(error.message) ? "unavailable" : "bug";
}

/** Covers a Unix socket that is missing (ENOENT) or full (EAGAIN), as while a server starts. Other ENOENT errors are not database faults. */
function isConnectError(error: unknown): boolean {
  return error instanceof Error && "syscall" in error && error.syscall === "connect";
}

/** Whether a caller should be answered that the database is unavailable. Includes conflicts with exhausted retries. */
export function isDatabaseUnavailable(error: unknown): boolean {
  const fault = databaseFaultOf(error);
  return fault === "unavailable" || fault === "conflict";
}

/** The server of this connection accepts no writes. Another connection may reach one that does. */
export function isReadOnlyServer(error: unknown): boolean {
  return errorCode(error) === "25006";
}

/** The transaction was rolled back for certain. */
export function isTransient(error: unknown): boolean {
  return databaseFaultOf(error) === "conflict";
}

/** The server could not be reached or the connection broke. The outcome of a commit that was in progress is unknown. */
export function isServerUnavailable(error: unknown): boolean {
  return databaseFaultOf(error) === "unavailable";
}

/** A value out of range or a violated constraint. The transaction was rolled back for certain. */
export function isBadData(error: unknown): boolean {
  return databaseFaultOf(error) === "bad_data";
}
