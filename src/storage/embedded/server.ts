// The embedded database: a PostgreSQL server as a supervised child process with its files in the data directory. Start reading here.
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { type Account, chooseAccount } from "./account.ts";
import { type Binaries, findBinaries, program, WAYS_OUT } from "./binaries.ts";
import {
  connectionUrl,
  type Endpoint,
  ensureDatabase,
  readEndpoint,
  superuserConfig,
  writeEndpoint,
} from "./connection.ts";
import { spawnGuarded } from "./guard.ts";
import { initialize, loadOrCreatePassword, majorOf, readPassword } from "./initialize.ts";
import { type InstallationLock, lockInstallation } from "./installation-lock.ts";
import { completeNpmBinaries, copyBinaries } from "./npm-binaries.ts";
import { canRun, type Placement, preparePlacement, readPlacement } from "./placement.ts";
import { stopRemainingServer } from "./remaining-server.ts";
import { LOG_FILE, openServerLog } from "./server-log.ts";
import { serverArguments, SOCKET_PORT } from "./settings.ts";
import { freePort } from "./free-port.ts";
import { supervise } from "./supervise.ts";

export interface EmbeddedOptions {
  /** An absolute path of an existing directory. */
  readonly dataDir: string;
  readonly postgresBin: string | null;
  readonly runAs: string | null;
  readonly path: string | undefined;
  /** A lock that the caller holds and will release. */
  readonly heldLock?: InstallationLock | undefined;
  /** Receives lines of the server's log of level WARNING or worse. */
  readonly onProblem?: ((level: string, message: string) => void) | undefined;
  /** The server exited unexpectedly and will be restarted after `delayMs`. */
  readonly onRestart?: ((delayMs: number) => void) | undefined;
}

export interface EmbeddedServer {
  readonly url: string;
  readonly version: string;
  readonly placement: Placement;
  readonly account: Account | null;
  /** Stops PostgreSQL with a checkpoint, then releases the lock. */
  stop(): Promise<void>;
}

/** An error that the operator must fix: no binaries, files of another version, damaged files. `hints` are complete sentences. */
export class EmbeddedUnavailable extends Error {
  override readonly name = "EmbeddedUnavailable";
  readonly hints: readonly string[];

  constructor(message: string, hints: readonly string[], cause?: unknown) {
    super(message, { cause });
    this.hints = hints;
  }
}

/** Acquires the installation's lock, then starts the server. Throws `InstallationInUse` or `EmbeddedUnavailable`. */
export async function startEmbeddedServer(options: EmbeddedOptions): Promise<EmbeddedServer> {
  const lock = options.heldLock ?? (await lockInstallation(options.dataDir));
  const release = options.heldLock === undefined ? () => lock.release() : async () => undefined;
  try {
    const server = await startLocked(options);
    return {
      ...server,
      stop: async () => {
        try {
          await server.stop();
        } finally {
          await release();
        }
      },
    };
  } catch (error) {
    await release();
    throw error;
  }
}

/** Whether a database was created there before. Creates nothing. */
export async function hasEmbeddedDatabase(dataDir: string): Promise<boolean> {
  return (await majorOf((await readPlacement(dataDir)).data)) !== null;
}

/** The URL of the server that another process runs. Null: none was ever started. */
export async function embeddedUrl(dataDir: string): Promise<string | null> {
  const endpoint = await readEndpoint(dataDir);
  const password = await readPassword(dataDir);
  return endpoint === null || password === null ? null : connectionUrl(endpoint, password);
}

async function startLocked(options: EmbeddedOptions): Promise<EmbeddedServer> {
  const { dataDir } = options;
  const account = await chooseAccount(options.runAs, dataDir);
  const placement = await preparePlacement(dataDir, account);
  await stopRemainingServer(placement);
  const major = await majorOf(placement.data);
  const binaries = await usableBinaries(options, placement, account, major);
  const password = await loadOrCreatePassword(dataDir);
  if (major === null) await initialize(placement.data, binaries, account, password);
  else await requireAccount(placement, account);
  const tcpPort = process.platform === "win32" ? await freePort() : null;
  const endpoint: Endpoint =
    tcpPort === null ? { host: placement.sockets, port: SOCKET_PORT } : { host: "127.0.0.1", port: tcpPort };
  const log = openServerLog(join(dataDir, LOG_FILE), options.onProblem ?? (() => undefined));
  try {
    const supervisor = await supervise({
      spawn: () => {
        const child = spawnGuarded(
          join(binaries.bin, program("postgres")),
          serverArguments(placement, tcpPort),
          account,
        );
        if (child.stderr !== null) log.read(child.stderr);
        return child;
      },
      cleanUp: () => stopRemainingServer(placement),
      connection: superuserConfig(endpoint, password),
      onRestart: options.onRestart ?? (() => undefined),
    });
    const stop = async (): Promise<void> => {
      await supervisor.stop();
      log.close();
    };
    try {
      await ensureDatabase(endpoint, password);
      await writeEndpoint(dataDir, endpoint);
    } catch (error) {
      await stop();
      throw error;
    }
    return { url: connectionUrl(endpoint, password), version: binaries.version, placement, account, stop };
  } catch (error) {
    log.close();
    throw startFailure(error, log.recent(), dataDir);
  }
}

/** Copies npm's programs next to the server's files if its account cannot reach them, or if their links cannot be created. */
async function usableBinaries(
  { postgresBin, path }: EmbeddedOptions,
  placement: Placement,
  account: Account | null,
  major: number | null,
): Promise<Binaries> {
  const found = await findBinaries({ configured: postgresBin, major, path });
  if (!found.ok) throw new EmbeddedUnavailable(found.message, WAYS_OUT);
  const { binaries } = found;
  const postgres = join(binaries.bin, program("postgres"));
  if (binaries.source === "npm") await completeNpmBinaries(join(binaries.bin, "..")).catch(() => undefined);
  if (await canRun(postgres, account)) return binaries;
  if (binaries.source !== "npm")
    throw new EmbeddedUnavailable(
      `${account === null ? "This user" : `The account ${account.name}`} cannot run ${postgres}.`,
      ["set storage.postgres_bin to programs that it can run, or storage.run_as to an account that can"],
    );
  const target = join(placement.home, `postgresql-${binaries.version}`);
  const bin = (await canRun(join(target, "bin", program("postgres")), account))
    ? join(target, "bin")
    : await copyBinaries(binaries.bin, target);
  if (!(await canRun(join(bin, program("postgres")), account)))
    throw new EmbeddedUnavailable(`PostgreSQL's programs in ${bin} do not run on this machine.`, WAYS_OUT);
  return { ...binaries, bin };
}

/** PostgreSQL refuses data files of another account with a message that does not help the operator. */
async function requireAccount({ data }: Placement, account: Account | null): Promise<void> {
  const { uid } = await stat(data);
  const expected = account?.uid ?? process.getuid?.() ?? uid;
  if (uid === expected) return;
  throw new EmbeddedUnavailable(`${data} belongs to user ${uid}, and the server would run as user ${expected}.`, [
    `start the gateway as user ${uid}, or give the directory to the other one: chown -R ${expected} ${data}`,
  ]);
}

function startFailure(error: unknown, lines: readonly string[], dataDir: string): unknown {
  const fatalLine = lines.findLast((line) => /\] (?:FATAL|PANIC):/u.test(line));
  if (!(error instanceof Error) || error.name !== "ServerEnded") return error;
  const reason = fatalLine?.replace(/^.*\] (?:FATAL|PANIC): {2}/u, "") ?? lines.at(-1) ?? error.message;
  return new EmbeddedUnavailable(
    `The embedded database does not start: ${reason}.`,
    [
      `read ${join(dataDir, LOG_FILE)}; if files are damaged, restore the last backup: patchbay restore FILE --force`,
      "if the disk or memory is full, free some; a restore is not needed",
    ],
    error,
  );
}
