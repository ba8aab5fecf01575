// A real PostgreSQL server for tests, from the binaries of the development dependency or of an installed package: on loopback, in a temporary folder, removed
// afterwards. PostgreSQL refuses to run as root, so root starts it as another account.
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { chown, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { cached } from "../machine-cache.ts";
import { end, freePort } from "../programs.ts";
import { npmPrograms } from "./npm-programs.ts";

export interface PostgresServer {
  /** A superuser on the database `postgres`. */
  readonly url: string;
  /** The process whose children serve the connections; changes with a restart. */
  readonly pid: number;
  /** Stops for `downMs`, then starts on the same port and data. `crash` cuts every connection and leaves recovery to the start. */
  restart(how: { readonly crash: boolean; readonly downMs: number }): Promise<void>;
  stop(): Promise<void>;
}

export interface RunAs {
  readonly uid?: number;
  readonly gid?: number;
}

export interface PostgresOptions {
  /**
   * `kept`: each commit waits for the disk, as in production; for benchmarks. Default: no commit waits, which matters only if the machine crashes. `lost`: also
   * skips all writes that only crash recovery needs.
   */
  readonly commits?: "kept" | "lost";
  /** Further settings, as `name=value`. */
  readonly settings?: readonly string[];
  /** Program folder of an installed server (oldest-server.ts), used in place. Absent: the development dependency's. */
  readonly bin?: string | undefined;
}

/** In the cache. */
const [DATA, PASSWORD] = ["data", "password"];

export async function startPostgresServer({
  commits,
  bin: installed,
  settings: further = [],
}: PostgresOptions = {}): Promise<PostgresServer> {
  const folder = await mkdtemp(join(tmpdir(), "patchbay-postgres-"));
  let server: ChildProcess | null = null;
  // Also if this process ends without waiting: no server may survive it.
  const cleanUp = (): void => {
    server?.kill("SIGQUIT");
    rmSync(folder, { recursive: true, force: true });
  };
  process.once("exit", cleanUp);
  try {
    const runAs = await unprivileged();
    const bin = installed ?? join(await npmPrograms(), "bin");
    const cluster = await cachedCluster(bin, runAs);
    const password = await readFile(join(cluster, PASSWORD), "utf8");
    if (runAs.uid !== undefined && runAs.gid !== undefined) await chown(folder, runAs.uid, runAs.gid);
    const data = join(folder, DATA);
    await run("cp", ["-a", join(cluster, DATA), data], {});
    const port = await freePort();
    const settings = [
      "listen_addresses=127.0.0.1",
      "unix_socket_directories=",
      "max_connections=200",
      ...(commits === "kept" ? [] : ["fsync=off"]),
      ...(commits === "lost" ? ["full_page_writes=off", "synchronous_commit=off", "autovacuum=off"] : []),
      ...further,
    ];
    const launch = async (): Promise<ChildProcess> => {
      const started = spawn(
        join(bin, "postgres"),
        ["-D", data, "-p", String(port), ...settings.flatMap((setting) => ["-c", setting])],
        { ...runAs, cwd: folder, stdio: ["ignore", "ignore", "pipe"] },
      );
      server = started;
      await ready(started);
      return started;
    };
    let running = await launch();
    return {
      url: `postgres://patchbay:${password}@127.0.0.1:${port}/postgres`,
      get pid() {
        return running.pid ?? 0;
      },
      restart: async ({ crash, downMs }) => {
        await end(running, crash ? "SIGQUIT" : "SIGINT");
        await wait(downMs);
        running = await launch();
      },
      stop: async () => {
        process.off("exit", cleanUp);
        await end(running, "SIGINT");
        await rm(folder, { recursive: true, force: true });
      },
    };
  } catch (error) {
    process.off("exit", cleanUp);
    cleanUp();
    throw error;
  }
}

/** A new server's files: `initdb` takes as much processor time as a small trial. */
function cachedCluster(bin: string, runAs: RunAs): Promise<string> {
  const key = createHash("sha256")
    .update(`${bin} ${versionOf(bin)}`)
    .digest("hex")
    .slice(0, 12);
  return cached(`server-${key}`, async (folder) => {
    await mkdir(folder, { mode: 0o711 });
    const password = join(folder, PASSWORD);
    await writeFile(password, randomBytes(12).toString("hex"), { mode: 0o600 });
    if (runAs.uid !== undefined && runAs.gid !== undefined)
      for (const path of [folder, password]) await chown(path, runAs.uid, runAs.gid);
    await run(
      join(bin, "initdb"),
      [
        "-D",
        join(folder, DATA),
        "-U",
        "patchbay",
        "-A",
        "scram-sha-256",
        `--pwfile=${password}`,
        "-E",
        "UTF8",
        "--locale=C",
        "--no-sync",
        // The password is random, so thousands of hash rounds would only slow connections. Available since 16.
        ...(majorVersionOf(bin) >= 16 ? ["-c", "scram_iterations=1"] : []),
      ],
      runAs,
    );
  });
}

/** 15 of "postgres (PostgreSQL) 15.14 (Debian …)". */
export function majorVersionOf(bin: string): number {
  return Number(/\) (\d+)/u.exec(versionOf(bin))?.[1]);
}

function versionOf(bin: string): string {
  return execFileSync(join(bin, "postgres"), ["--version"], { encoding: "utf8" });
}

export async function unprivileged(): Promise<RunAs> {
  if (process.getuid?.() !== 0) return {};
  const users = (await readFile("/etc/passwd", "utf8")).split("\n").map((line) => line.split(":"));
  for (const account of ["postgres", "nobody"]) {
    const user = users.find(([name]) => name === account);
    if (user !== undefined) return { uid: Number(user[2]), gid: Number(user[3]) };
  }
  throw new Error('PostgreSQL does not run as root, and there is neither a user "postgres" nor "nobody" to run it as.');
}

export async function run(program: string, args: readonly string[], runAs: RunAs): Promise<void> {
  const child = spawn(program, args, { ...runAs, cwd: dirname(program), stdio: ["ignore", "ignore", "pipe"] });
  let complaint = "";
  child.stderr.on("data", (chunk: Buffer) => {
    complaint += chunk.toString();
  });
  const [code] = (await once(child, "close")) as [number | null];
  if (code !== 0) throw new Error(`${basename(program)} failed: ${complaint}`);
}

export async function ready(server: ChildProcess): Promise<void> {
  let log = "";
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.once("exit", () => reject(new Error(`postgres did not start: ${log}`)));
    server.stderr?.on("data", (chunk: Buffer) => {
      // Keeps reading after the start, because a full pipe would block the server.
      if (log.length < 20_000) log += chunk.toString();
      // A standby reports "… read-only connections".
      if (/ready to accept (?:read-only )?connections/u.test(log)) resolve();
    });
  });
}
