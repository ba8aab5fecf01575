// Prepares every long-running command: reads the configuration and the secrets, opens the storage, and applies the objects of the configuration file to the
// database.
import type { Logger } from "pino";
import { awaitDataDir, realTime } from "./await-predecessor.ts";
import { findFfmpeg } from "../audio/decode/find-ffmpeg.ts";
import { EXIT } from "../cli/exit-codes.ts";
import { ownCommand } from "../cli/invocation.ts";
import { showCommands } from "../cli/shown-text.ts";
import { CliError } from "../cli/terminal.ts";
import type { Configuration } from "../config/configuration.ts";
import { findFile } from "../config/find-file.ts";
import { formatFault } from "../config/fault.ts";
import type { OwnFile } from "../admin/apply-file.ts";
import { type LoadOptions, type LoadResult, loadConfiguration } from "../config/load-configuration.ts";
import { proxySettings } from "../config/proxy-settings.ts";
import {
  type AppliedConfiguration,
  applyConfiguration,
  type ApplyOptions,
  type ApplyServices,
} from "../directory/apply-configuration.ts";
import { logDestination } from "../lib/log-destination.ts";
import { createLogger } from "../lib/logger.ts";
import type { ProxySettings } from "../outbound/dial.ts";
import type { Database } from "../storage/database.ts";
import { followDatabaseClock } from "../storage/connection/database-clock.ts";
import { findUnreadableAnswers, OUT_OF_REACH } from "../operations/store/unreadable-answers.ts";
import { createDataDir } from "../storage/connection/make-data-dir.ts";
import { bypassRls } from "../storage/system.ts";
import { MOVED, readMoved } from "../storage/connection/moved-database.ts";
import { InstallationInUse } from "../storage/embedded/installation-lock.ts";
import { beginInstallation, completeInstallation } from "../storage/embedded/installation-state.ts";
import { EmbeddedUnavailable, hasEmbeddedDatabase } from "../storage/embedded/server.ts";
import { type EmbeddedMode, openStorage, type OpenStorageOptions } from "../storage/connection/open-storage.ts";
import { refuseOtherSecrets } from "../operations/read-configuration.ts";
import { readLocalSpeech } from "./local-speech.ts";
import { openSecrets } from "../storage/secrets/open-secrets.ts";
import { sealUnderDataKeys } from "../storage/secrets/rotate-keys.ts";
import { describePooling, PoolerRefused } from "../storage/connection/pooler.ts";
import { createSeal, type Seal } from "../storage/secrets/seal.ts";
import { ServerUnavailable } from "../storage/connection/server-fault.ts";
import { type OtlpSettings, otlpSettings } from "../telemetry/otlp.ts";

const LOG_END_MS = 2_000;

export interface PrepareOptions {
  /** From `--config`. Null: search as `loadConfiguration` does. */
  readonly config: string | null;
  readonly host?: string | undefined;
  readonly port?: number | undefined;
  readonly adminPort?: number | undefined;
  /** How the embedded server is used if no other is configured. */
  readonly embedded: EmbeddedMode;
  /** Allows an empty embedded database although the data directory has parts of another installation. */
  readonly newDatabase?: boolean;
  /** Another process has already printed the notices; errors are still printed. */
  readonly isQuiet?: boolean;
}

export interface PreparedProcess {
  readonly configuration: Configuration;
  /** Null: there is no file, and the defaults apply. */
  readonly file: string | null;
  /** A command called in the same directory finds the same configuration without `--config`. */
  readonly isFoundFromHere: boolean;
  readonly applied: AppliedConfiguration;
  /** Can be reread while the process runs. */
  readonly ownFile: OwnFile | null;
  /** Of a start without a file: the models on this machine that it routes to, and how to derive them again. Null: there is a file. */
  readonly derived: { readonly models: readonly string[]; readonly again: () => LoadResult } | null;
  readonly database: Database;
  readonly seal: Seal;
  readonly pepper: Buffer;
  readonly logger: Logger;
  /** Awaited last, so that the log has time to be written. */
  readonly endLog: () => Promise<void>;
  /** The database's time, independent of this machine's clock. */
  readonly now: () => Date;
  readonly otlp: OtlpSettings | null;
  /** Null: not on the PATH. */
  readonly ffmpeg: string | null;
  /** Of downloads of models. */
  readonly proxy: ProxySettings;
  /** Prints for people, on stderr; the log goes to stdout. */
  readonly say: (text: string) => void;
  /** Like `printLine`, with the time since the start. */
  readonly step: (text: string) => void;
}

/** Returns the exit code as a number if it failed; the error has been printed. */
export async function prepare(options: PrepareOptions): Promise<PreparedProcess | number> {
  const started = performance.now();
  // The reader of stderr may be gone; a failed print must not end the process.
  process.stderr.on("error", () => undefined);
  const command = ownCommand({ env: process.env, cwd: process.cwd() });
  const say = (text: string) => process.stderr.write(`${showCommands(text, command)}\n`);
  const unsafe = unsafeEnvironment(process.env);
  if (unsafe !== null) {
    say(unsafe);
    return EXIT.config;
  }
  const ffmpeg = findFfmpeg(process.env["PATH"]);
  let routedModels: readonly string[] = [];
  const source: LoadOptions = {
    file: options.config,
    env: process.env,
    cwd: process.cwd(),
    overrides: { host: options.host, port: options.port, adminPort: options.adminPort },
    readLocalSpeech: (modelsDir) => {
      const local = readLocalSpeech(modelsDir);
      routedModels = local.installed;
      return local;
    },
  };
  const loaded = loadConfiguration(source);
  if (!loaded.ok) {
    for (const fault of loaded.faults) say(formatFault(fault));
    return EXIT.config;
  }
  const { configuration, file } = loaded;
  const inform = options.isQuiet === true ? () => undefined : say;
  inform(`patchbay ${file === null ? "without a configuration file" : `with ${file}`}`);
  for (const warning of loaded.warnings) inform(`warning: ${formatFault(warning)}`);
  const step = steps(inform, started);

  const place = await createDataDir(configuration.storage.dataDir);
  if (!place.ok) {
    say(file === null ? place.fault : `${file}: ${place.fault}`);
    return EXIT.config;
  }
  if (place.made !== null) step(`data dir     ${whatIsNew(configuration.storage.dataDir, place.made)}`);
  const isEmbedded = configuration.storage.databaseUrl === null;
  // If the server is joined, its owner has already checked.
  if (isEmbedded && options.embedded === "own") await refuseIncomplete(configuration.storage.dataDir, options);
  const secrets = await openSecrets({ ...configuration.storage, ...configuration.secrets });
  if (!secrets.ok) {
    for (const fault of secrets.faults) say(`${file ?? "environment"}: ${fault}`);
    return EXIT.config;
  }
  const { pepper } = secrets;
  const seal = createSeal({ keys: secrets.encryptionKeys });
  step(`secrets      ${secrets.where}`);
  const log = logDestination(1);
  const logger = createLogger(log);
  const database = await openOwnDatabase(configuration, options.embedded, { inform, step, logger });
  step(`decoder      ${ffmpeg ?? "built-in, WAV and MP3 only: other formats need ffmpeg on the PATH"}`);
  const applied = await bringUpToDate({ database, seal, pepper }, configuration, {
    isFile: file !== null,
    inform,
  }).catch(async (error: unknown) => {
    // Closed properly: an embedded server would otherwise keep its lock and have to recover at the next start.
    await database.close();
    return refuseOtherSecrets(error);
  });
  if (isEmbedded) await completeInstallation(configuration.storage.dataDir);
  const clock = await followDatabaseClock(database, logger);
  const close = async (): Promise<void> => {
    await clock.stop();
    await database.close();
  };
  const otlp = otlpSettings(process.env);
  if (otlp !== null) step(`traces       to ${new URL(otlp.endpoint).host}`);
  const ownFile = file === null ? null : { path: file, load: () => loadConfiguration(source) };
  return {
    configuration,
    file,
    isFoundFromHere: file === findFile({ ...source, file: null, env: {} }),
    applied,
    ownFile,
    derived: file === null ? { models: routedModels, again: () => loadConfiguration(source) } : null,
    database: { ...database, close },
    seal,
    pepper,
    logger,
    endLog: () => log.end(LOG_END_MS),
    now: () => clock.now(),
    otlp,
    ffmpeg,
    proxy: proxySettings(process.env),
    say,
    step,
  };
}

interface StartOutput {
  readonly inform: (text: string) => void;
  readonly step: (text: string) => void;
  readonly logger: Logger;
}

/** Refuses to create a new database where the data directory has parts of another installation. */
async function refuseIncomplete(dataDir: string, { newDatabase = false }: PrepareOptions): Promise<void> {
  const state = await beginInstallation(dataDir, newDatabase);
  if (state.kind === "refused") throw new CliError(EXIT.config, state.message, { hints: state.hints });
}

/** Opens the configured server, else the embedded one, after a stopping process has released it. */
async function openOwnDatabase(
  { storage }: Configuration,
  embedded: EmbeddedMode,
  { inform, step, logger }: StartOutput,
): Promise<Database> {
  const { databaseUrl, dataDir } = storage;
  const moved = await readMoved(dataDir);
  const holdsEmbedded = await hasEmbeddedDatabase(dataDir);
  if (databaseUrl === null) {
    if (moved !== null)
      throw new CliError(EXIT.config, `Storage: ${MOVED.message(moved, dataDir)}.`, { hints: [MOVED.fix(dataDir)] });
    if (embedded === "own") await awaitDataDir(dataDir, realTime(step));
    if (!holdsEmbedded && embedded === "own") step("storage      creating the embedded database (first start only)");
  } else if (holdsEmbedded && moved === null)
    inform(
      `warning: storage: using the database server; ignoring the embedded database in ${dataDir}; to move it to an empty server: patchbay migrate-storage`,
    );
  const database = await openStorage(storage, {
    embedded,
    listens: true,
    path: process.env["PATH"],
    ...reportEmbedded(logger),
    onUpdate: (pending) =>
      step(
        `storage      migrating the schema of an older version (${pending.join(", ")}); to go back, restore a backup made before`,
      ),
  }).catch(throwUnavailable);
  step(`storage      ${whereStored(database, storage)}, schema up to date`);
  return database;
}

/** Forwards problems of the embedded server to the log. */
export function reportEmbedded(logger: Logger): Pick<OpenStorageOptions, "onProblem" | "onRestart"> {
  return {
    onProblem: (level, message) =>
      logger[level === "WARNING" ? "warn" : "error"]({ task: "embedded database", level_name: level }, message),
    onRestart: (delayMs) =>
      logger.error({ task: "embedded database", ms: delayMs }, "the embedded database exited and is restarted"),
  };
}

/** Applies the file first, which refuses a process with the wrong secrets before it seals anything. */
async function bringUpToDate(
  services: ApplyServices,
  configuration: Configuration,
  { inform, ...how }: ApplyOptions & { readonly inform: (text: string) => void },
): Promise<AppliedConfiguration> {
  const { database, seal } = services;
  const applied = await applyConfiguration(services, configuration, how);
  await sealUnderDataKeys(database, seal);
  const lacking = await findUnreadableAnswers(bypassRls(database, "installation").db, seal);
  if (lacking.length > 0) inform(`warning: ${OUT_OF_REACH.message(lacking)}; ${OUT_OF_REACH.fix}`);
  return applied;
}

/** Not an internal error: the operator fixes the cause, or restarts when the server is available. */
export function throwUnavailable(error: unknown): never {
  if (error instanceof ServerUnavailable) throw new CliError(EXIT.upstream, error.message, { hints: [error.check] });
  if (error instanceof EmbeddedUnavailable) throw new CliError(EXIT.config, error.message, { hints: error.hints });
  if (error instanceof InstallationInUse)
    throw new CliError(EXIT.conflict, error.message, {
      hints: ["stop that gateway first (patchbay down), or choose another storage.data_dir"],
    });
  if (error instanceof PoolerRefused) throw new CliError(EXIT.config, error.message, { hints: [error.check] });
  throw error;
}

function whereStored(database: Database, { databaseUrl, dataDir }: Configuration["storage"]): string {
  if (databaseUrl === null) return `embedded, in ${dataDir}`;
  const { direct } = bypassRls(database, "server");
  return direct.pooling === "none" ? "PostgreSQL server" : `PostgreSQL server ${describePooling(direct)}`;
}

/** A missing parent directory may be a typing error, or a disk that is not mounted. */
function whatIsNew(dataDir: string, createdDirectory: string): string {
  return createdDirectory === dataDir ? `${dataDir}, new` : `${dataDir}, created together with ${createdDirectory}`;
}

/** Names an environment variable that disables the check of certificates for every connection of the process, to providers and receivers alike. */
export function unsafeEnvironment(env: Readonly<Record<string, string | undefined>>): string | null {
  return env["NODE_TLS_REJECT_UNAUTHORIZED"] === "0"
    ? "environment: NODE_TLS_REJECT_UNAUTHORIZED=0 disables all certificate checks. Unset it; for a private authority, set NODE_EXTRA_CA_CERTS to its certificate."
    : null;
}

function steps(say: (text: string) => void, started: number): (text: string) => void {
  return (text) => say(`  ${((performance.now() - started) / 1000).toFixed(1).padStart(5)} s  ${text}`);
}
