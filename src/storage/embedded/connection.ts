// How processes of this machine reach the embedded server: its owner's role on its Unix socket, by a URL that every PostgreSQL client accepts.
import { readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Client, type ClientConfig } from "pg";
import { errorCode } from "../../lib/error-code.ts";
import { SUPERUSER } from "./initialize.ts";

/** Owner of the schema, and no superuser. */
export const OWNER_ROLE = "patchbay";
const DATABASE = "patchbay";
/** In the data directory: where the running server listens. */
export const ENDPOINT_FILE = "postgres-endpoint.json";

export interface Endpoint {
  /** A directory with a socket, or a loopback address. */
  readonly host: string;
  readonly port: number;
}

export function superuserConfig({ host, port }: Endpoint, password: string): ClientConfig {
  // Not what PGSSLMODE asks of other servers.
  return {
    host,
    port,
    user: SUPERUSER,
    password,
    database: "postgres",
    ssl: false,
    application_name: "patchbay-setup",
  };
}

/** The host is in the query, where every client takes a directory too. */
export function connectionUrl({ host, port }: Endpoint, password: string): string {
  const url = new URL(`postgres://localhost/${DATABASE}`);
  url.username = OWNER_ROLE;
  url.password = password;
  url.searchParams.set("host", host);
  url.searchParams.set("port", String(port));
  // Not what PGSSLMODE asks of other servers.
  url.searchParams.set("sslmode", "disable");
  return url.href;
}

/** Creates the owner's role and database where they are missing; at every start, since a start may have ended between the two. */
export async function ensureDatabase(endpoint: Endpoint, password: string): Promise<void> {
  const client = new Client(superuserConfig(endpoint, password));
  client.on("error", () => undefined);
  await client.connect();
  try {
    const { rows } = await client.query<{ has_role: boolean; has_database: boolean }>(
      `select exists (select from pg_roles where rolname = $1) as has_role,
         exists (select from pg_database where datname = $2) as has_database`,
      [OWNER_ROLE, DATABASE],
    );
    const secret = client.escapeLiteral(password);
    if (rows[0]?.has_role !== true) await client.query(`create role ${OWNER_ROLE} login createrole password ${secret}`);
    if (rows[0]?.has_database !== true) await client.query(`create database ${DATABASE} owner ${OWNER_ROLE}`);
  } finally {
    await client.end();
  }
}

export async function writeEndpoint(dataDir: string, endpoint: Endpoint): Promise<void> {
  const path = join(dataDir, ENDPOINT_FILE);
  await writeFile(`${path}.new`, `${JSON.stringify(endpoint)}\n`, { mode: 0o600 });
  await rename(`${path}.new`, path);
}

/** Null: no server has been started there. */
export async function readEndpoint(dataDir: string): Promise<Endpoint | null> {
  try {
    return JSON.parse(await readFile(join(dataDir, ENDPOINT_FILE), "utf8")) as Endpoint;
  } catch (error) {
    if (errorCode(error) === "ENOENT") return null;
    throw error;
  }
}
