// Why a PostgreSQL server cannot be used, for the operator who set its address: where it was looked for and what to check, never the
// password [storage.server-unreachable].
import { Client } from "pg";
import { errorCode } from "../lib/error-code.ts";
import { isServerUnavailable } from "./database-faults.ts";

export class ServerUnavailable extends Error {
  override readonly name = "ServerUnavailable";
  /** What to look at, in one line. */
  readonly check: string;

  constructor(message: string, check: string, cause: unknown) {
    super(message, { cause });
    this.check = check;
  }
}

/** Of an error that tells of the server itself; any other as it is. */
export function serverFault(error: unknown, connectionString: string): unknown {
  const said = error instanceof AggregateError ? error.errors[0] : error;
  const words = said instanceof Error ? said.message : "unknown reason";
  const code = errorCode(said) ?? "";
  const dialled = dialledBy(connectionString);
  if (dialled === null)
    return new ServerUnavailable(
      `The address of the PostgreSQL server cannot be used: ${words.replace(/\.$/u, "")}.`,
      "check its options, the files that sslrootcert, sslcert and sslkey name, and that each % in a password is written as %25",
      error,
    );
  const { host, port, user = "", database = "" } = dialled;
  const isSocket = host.startsWith("/");
  const server = `The PostgreSQL server at ${isSocket ? host : `${host.includes(":") ? `[${host}]` : host}:${port}`}`;
  const refused = (message: string, check: string) => new ServerUnavailable(`${server} ${message}.`, check, error);
  if (code === "3D000")
    return refused(
      `has no database "${database}"`,
      "check the name at the end of the address, or make the database there",
    );
  // The driver's own, of a server that asks for a password where none is given.
  if (code.startsWith("28") || words.startsWith("SASL"))
    return refused(
      `does not let the user "${user}" in: ${words}`,
      "check user and password in the address, and the server's pg_hba.conf",
    );
  if (TLS.test(words) || code.startsWith("ERR_TLS") || CERTIFICATE.test(code))
    return refused(
      `cannot be spoken to over TLS: ${words}`,
      "check sslmode and sslrootcert in the address, and the server's certificate",
    );
  if (BUSY.has(code))
    return refused(`takes no connection now: ${words}`, "wait until it does, or raise its max_connections");
  if (!isServerUnavailable(said) && !(isSocket && SOCKET.has(code))) return error;
  return refused(
    `cannot be reached: ${REASONS[code] ?? words}${code === "" ? "" : ` (${code})`}`,
    isSocket
      ? "check that it runs and listens on this socket"
      : "check host and port in the address, that the server runs and listens there, and that no firewall is between",
  );
}

/** What the driver would take, from the environment too. Null: it takes no such address, for it reads the files that this one names. */
function dialledBy(connectionString: string): Client | null {
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
/** It starts, stops, or has no place left. */
const BUSY: ReadonlySet<string> = new Set(["57P03", "53300"]);
const TLS = /\bSSL\b|\bTLS\b|certificate/u;
const CERTIFICATE = /CERT|SIGNATURE/u;
