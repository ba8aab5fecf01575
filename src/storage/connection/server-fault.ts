// Explains to the operator why a PostgreSQL server cannot be used: its address and what to check, but never the password
// [storage.server-unreachable].
import { Client } from "pg";
import { errorCode } from "../../lib/error-code.ts";
import { isServerUnavailable } from "../database-faults.ts";

export class ServerUnavailable extends Error {
  override readonly name = "ServerUnavailable";
  /** What to check, in one line. */
  readonly check: string;

  constructor(message: string, check: string, cause: unknown) {
    super(message, { cause });
    this.check = check;
  }
}

/** Converts errors about the server itself. Returns any other error unchanged. */
export function serverFault(error: unknown, connectionString: string): unknown {
  const cause = error instanceof AggregateError ? error.errors[0] : error;
  const reason = cause instanceof Error ? cause.message : "unknown reason";
  const code = errorCode(cause) ?? "";
  const client = parseAddress(connectionString);
  if (client === null)
    return new ServerUnavailable(
      `The address of the PostgreSQL server cannot be used: ${reason.replace(/\.$/u, "")}.`,
      "check its options, the files that sslrootcert, sslcert and sslkey name, and that each % in a password is written as %25",
      error,
    );
  const { host, port, user = "", database = "" } = client;
  const isSocket = host.startsWith("/");
  const server = `The PostgreSQL server at ${isSocket ? host : `${host.includes(":") ? `[${host}]` : host}:${port}`}`;
  const unavailable = (message: string, check: string) => new ServerUnavailable(`${server} ${message}.`, check, error);
  if (code === "3D000")
    return unavailable(
      `has no database "${database}"`,
      "check the name at the end of the address, or make the database there",
    );
  // SASL: the driver's own error if the server requires a password and none is configured.
  if (code.startsWith("28") || reason.startsWith("SASL"))
    return unavailable(
      `does not let the user "${user}" in: ${reason}`,
      "check user and password in the address, and the server's pg_hba.conf",
    );
  if (TLS.test(reason) || code.startsWith("ERR_TLS") || CERTIFICATE.test(code))
    return unavailable(
      `cannot be spoken to over TLS: ${reason}`,
      "check sslmode and sslrootcert in the address, and the server's certificate",
    );
  if (BUSY.has(code))
    return unavailable(`takes no connection now: ${reason}`, "wait until it does, or raise its max_connections");
  if (!isServerUnavailable(cause) && !(isSocket && SOCKET.has(code))) return error;
  return unavailable(
    `cannot be reached: ${REASONS[code] ?? reason}${code === "" ? "" : ` (${code})`}`,
    isSocket
      ? "check that it runs and listens on this socket"
      : "check host and port in the address, that the server runs and listens there, and that no firewall is between",
  );
}

/** Parses the address as the driver does, including the environment. Null: invalid, for example because it names missing certificate files. */
function parseAddress(connectionString: string): Client | null {
  try {
    return new Client({ connectionString });
  } catch {
    return null;
  }
}

const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: "nothing listens there",
  ENOTFOUND: "no such host name is known",
  EAI_AGAIN: "the name server does not answer",
  EHOSTUNREACH: "there is no way to this host",
  ENETUNREACH: "there is no way to this network",
  ETIMEDOUT: "it does not answer",
};
const SOCKET: ReadonlySet<string> = new Set(["ENOENT", "EACCES"]);
/** The server is starting, stopping, or has no free connection. */
const BUSY: ReadonlySet<string> = new Set(["57P03", "53300"]);
const TLS = /\bSSL\b|\bTLS\b|certificate/u;
const CERTIFICATE = /CERT|SIGNATURE/u;
