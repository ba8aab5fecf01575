// A primary with a synchronous standby, from the tests' binaries: the standby starts from a copy of the primary's data directory, streams from it, and can be
// promoted after the primary was killed.
import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { rmSync } from "node:fs";
import { appendFile, chmod, chown, cp, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { Client } from "pg";
import { npmPrograms } from "../../harness/postgres/npm-programs.ts";
import { type RunAs, ready, run, unprivileged } from "../../harness/postgres/postgres-server.ts";
import { end, freePort } from "../../harness/programs.ts";

export interface ReplicatedPostgres extends AsyncDisposable {
  readonly primaryPort: number;
  readonly standbyPort: number;
  /** URL through a proxy. */
  urlAt(port: number): string;
  /** SIGKILL for the server process and all its children, like the loss of the machine. */
  killPrimary(): Promise<void>;
  /** Resolves once the standby accepts writes. */
  promote(): Promise<void>;
}

const STANDBY = "standby";
const POLL_MS = 20;
const SETTINGS = [
  "listen_addresses=127.0.0.1",
  "unix_socket_directories=",
  "max_connections=200",
  "fsync=off",
  "wal_keep_size=256MB",
];

export async function startReplicatedPostgres(): Promise<ReplicatedPostgres> {
  const folder = await mkdtemp(join(tmpdir(), "patchbay-failover-"));
  const running = new Set<ChildProcess>();
  const cleanUp = (): void => {
    for (const server of running) server.kill("SIGQUIT");
    rmSync(folder, { recursive: true, force: true });
  };
  process.once("exit", cleanUp);
  const runAs = await unprivileged();
  const password = randomBytes(12).toString("hex");
  const [data, copy] = [join(folder, "primary"), join(folder, STANDBY)];
  const bin = join(await npmPrograms(), "bin");
  const launch = async (directory: string, port: number): Promise<ChildProcess> => {
    const options = ["-D", directory, "-p", String(port), ...SETTINGS.flatMap((setting) => ["-c", setting])];
    const server = spawn(join(bin, "postgres"), options, {
      ...runAs,
      cwd: folder,
      stdio: ["ignore", "ignore", "pipe"],
    });
    running.add(server);
    await ready(server);
    return server;
  };
  await initialise({ folder, bin, data, password, runAs });
  const [primaryPort, standbyPort] = [await freePort(), await freePort()];
  await cp(data, copy, { recursive: true });
  await writeFile(join(copy, "standby.signal"), "");
  await appendFile(
    join(copy, "postgresql.auto.conf"),
    `primary_conninfo = 'host=127.0.0.1 port=${primaryPort} user=patchbay password=${password} application_name=${STANDBY}'\n`,
  );
  await own(copy, runAs);
  const urlAt = (port: number): string => `postgres://patchbay:${password}@127.0.0.1:${port}/postgres`;
  const primary = await launch(data, primaryPort);
  await launch(copy, standbyPort);
  await query(urlAt(primaryPort), `alter system set synchronous_standby_names = '${STANDBY}'`);
  await query(urlAt(primaryPort), "select pg_reload_conf()");
  await untilTrue(urlAt(primaryPort), "select count(*) = 1 as done from pg_stat_replication where sync_state = 'sync'");
  return {
    primaryPort,
    standbyPort,
    urlAt,
    killPrimary: async () => {
      await killTree(primary);
      running.delete(primary);
    },
    promote: async () => {
      await query(urlAt(standbyPort), "select pg_promote(true, 60)");
      await untilTrue(urlAt(standbyPort), "select not pg_is_in_recovery() as done");
    },
    [Symbol.asyncDispose]: async () => {
      process.off("exit", cleanUp);
      for (const server of running) await end(server, "SIGQUIT");
      await rm(folder, { recursive: true, force: true });
    },
  };
}

interface NewCluster {
  readonly folder: string;
  readonly bin: string;
  readonly data: string;
  readonly password: string;
  readonly runAs: RunAs;
}

async function initialise({ folder, bin, data, password, runAs }: NewCluster): Promise<void> {
  const passwordFile = join(folder, "password");
  await writeFile(passwordFile, password, { mode: 0o600 });
  if (runAs.uid !== undefined && runAs.gid !== undefined)
    for (const path of [folder, passwordFile]) await chown(path, runAs.uid, runAs.gid);
  const options = ["-D", data, "-U", "patchbay", "-A", "scram-sha-256", `--pwfile=${passwordFile}`, "-E", "UTF8"];
  await run(join(bin, "initdb"), [...options, "--locale=C", "--no-sync", "-c", "scram_iterations=1"], runAs);
}

/** The copy was created by this process, but is used by the server's account. */
async function own(directory: string, { uid, gid }: RunAs): Promise<void> {
  await chmod(directory, 0o700);
  if (uid === undefined || gid === undefined) return;
  await chown(directory, uid, gid);
  for (const entry of await readdir(directory, { recursive: true })) await chown(join(directory, entry), uid, gid);
}

/** The postmaster is stopped first, so that it starts and notifies no other child. */
async function killTree(server: ChildProcess): Promise<void> {
  server.kill("SIGSTOP");
  for (const child of await childrenOf(server.pid ?? 0)) process.kill(child, "SIGKILL");
  await end(server, "SIGKILL");
}

async function childrenOf(parent: number): Promise<readonly number[]> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/u.test(name)).map(Number);
  const isChild = async (pid: number): Promise<boolean> => {
    const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
    return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]) === parent;
  };
  const answers = await Promise.all(pids.map(isChild));
  return pids.filter((_, index) => answers[index]);
}

async function query<T extends object>(url: string, text: string): Promise<readonly T[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<T>(text)).rows;
  } finally {
    await client.end();
  }
}

async function untilTrue(url: string, text: string): Promise<void> {
  while ((await query<{ done: boolean }>(url, text))[0]?.done !== true) await wait(POLL_MS);
}
