// A real PgBouncer for tests in front of a PostgreSQL server: on loopback, in a temporary folder, removed afterwards.
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, rmSync } from "node:fs";
import { chown, mkdtemp, rm, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { once } from "node:events";
import { unprivileged } from "./postgres-server.ts";
import { end, freePort } from "../programs.ts";

export interface PgBouncer extends AsyncDisposable {
  /** The server's address through the pooler. */
  readonly url: string;
}

export interface PgBouncerOptions {
  readonly mode: "transaction" | "session";
  /** Server sessions per user and database. */
  readonly poolSize?: number;
  /** Further lines of its configuration. */
  readonly settings?: readonly string[];
}

export const PGBOUNCER_MISSING = "no PgBouncer: install the package pgbouncer";

/** Null: not installed. */
export function findPgBouncer(): string | null {
  const folders = [...(process.env["PATH"] ?? "").split(delimiter), "/usr/sbin"];
  return folders.map((folder) => join(folder, "pgbouncer")).find((path) => existsSync(path)) ?? null;
}

export async function startPgBouncer(
  program: string,
  databaseUrl: string,
  { mode, poolSize = 20, settings: more = [] }: PgBouncerOptions,
): Promise<PgBouncer> {
  const server = new URL(databaseUrl);
  const port = await freePort();
  const folder = await mkdtemp(join(tmpdir(), "patchbay-pgbouncer-"));
  const settings = join(folder, "pgbouncer.ini");
  await writeFile(join(folder, "users.txt"), `"${server.username}" "${server.password}"\n`);
  await writeFile(
    settings,
    `[databases]
* = host=${server.hostname} port=${server.port}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = trust
auth_file = ${join(folder, "users.txt")}
pool_mode = ${mode}
default_pool_size = ${poolSize}
max_client_conn = 200
${more.map((line) => `${line}\n`).join("")}`,
  );
  const runAs = await unprivileged();
  if (runAs.uid !== undefined && runAs.gid !== undefined)
    for (const path of [folder, join(folder, "users.txt"), settings]) await chown(path, runAs.uid, runAs.gid);
  const child = spawn(program, [settings], { ...runAs, cwd: folder, stdio: ["ignore", "ignore", "pipe"] });
  const cleanUp = (): void => {
    child.kill("SIGKILL");
    rmSync(folder, { recursive: true, force: true });
  };
  process.once("exit", cleanUp);
  const stop = async (): Promise<void> => {
    process.off("exit", cleanUp);
    await end(child, "SIGINT");
    await rm(folder, { recursive: true, force: true });
  };
  try {
    await ready(child);
    // It reports readiness before all its sockets listen.
    const socket = connect({ host: "127.0.0.1", port });
    await once(socket, "connect");
    socket.destroy();
  } catch (error) {
    await stop();
    throw error;
  }
  const url = new URL(databaseUrl);
  url.host = `127.0.0.1:${port}`;
  return { url: url.href, [Symbol.asyncDispose]: stop };
}

async function ready(child: ChildProcess): Promise<void> {
  let log = "";
  await new Promise<void>((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", () => reject(new Error(`pgbouncer did not start: ${log}`)));
    child.stderr?.on("data", (chunk: Buffer) => {
      // Keeps reading after the start, because a full pipe would block it.
      if (log.length < 20_000) log += chunk.toString();
      if (log.includes("process up")) resolve();
    });
  });
}
