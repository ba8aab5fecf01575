// The composition root, together with the `open-*.ts` files: only they choose concrete parts and connect them. They contain no request logic.
import { join } from "node:path";
import type { Logger } from "pino";
import { startSandbox } from "../../sandbox/server.ts";
import { createDecoder } from "../audio/decode/decoder.ts";
import { createMeasurer } from "../audio/measure.ts";
import type { OwnFile } from "../admin/apply-file.ts";
import { openSpool } from "../audio/spool.ts";
import type { Configuration } from "../config/configuration.ts";
import { createProviderDeletions } from "../gateway/calls/provider-deletions.ts";
import type { GatewayServices } from "../gateway/services.ts";
import { createTranscriptThread } from "../gateway/transcription/transcript-thread.ts";
import type { RequestLog } from "../requests/log.ts";
import type { RollUp } from "../requests/roll-up.ts";
import type { JobServices } from "../jobs/services.ts";
import { createPeriodicTask } from "../lib/concurrency/periodic-task.ts";
import { createDirtyTask } from "../lib/concurrency/dirty-task.ts";
import { openAccounts, SWEEP_MS } from "./metering.ts";
import { keepCheckpoints } from "./audit-checkpoints.ts";
import {
  connectionTestServices,
  openIoOver,
  openRemoteAudio,
  openReplies,
  sandboxLevers,
  sandboxUrl,
  setUpServices,
} from "./provider-io.ts";
import type { Alerts } from "./alerts.ts";
import { openJobs } from "./jobs.ts";
import { openModelEndQuestions } from "./model-ends.ts";
import { openObservers } from "./observers.ts";
import { openRecognisers } from "./recognisers.ts";
import { openOutbound, type OutboundParts } from "./outbound.ts";
import { openCaches } from "./caches.ts";
import { type LocalModelOptions, openLocalModels } from "./local-models.ts";
import { createServers } from "./servers.ts";
import type { HttpServer } from "../http/server/server.ts";
import { createCircuits } from "../providers/health.ts";
import { chatProviders, providers } from "../providers/registry.ts";
import type { Recognisers } from "../providers/local/recognisers.ts";
import type { Database } from "../storage/database.ts";
import type { Seal } from "../storage/secrets/seal.ts";
import { vacuumPurged } from "../storage/vacuum.ts";
import type { OtlpSettings } from "../telemetry/otlp.ts";

export interface AppOptions {
  readonly configuration: Configuration;
  readonly database: Database;
  readonly seal: Seal;
  readonly pepper: Buffer;
  readonly logger: Logger;
  readonly now?: () => Date;
  /** The clock by which models retire. Default: `now`. */
  readonly modelClock?: () => Date;
  /** Rereads the configuration file. Absent if there is none. */
  readonly ownFile?: OwnFile | null;
  /** For tests that inspect, or kill the process, between the gateway's steps. */
  readonly wrapGateway?: (gateway: GatewayServices) => GatewayServices;
  /** The program that decodes audio other than WAV and MP3. Absent if there is none. */
  readonly ffmpeg?: string | null;
  /** Whether this process works on jobs. Default: true. */
  readonly works?: boolean;
  /** Whether this process offers the admin API. A worker offers monitoring only. */
  readonly isAdministered?: boolean;
  /** The trace collector. Absent: no spans are sent. */
  readonly otlp?: OtlpSettings | null;
  readonly network?: OutboundParts["network"];
  readonly proxy?: LocalModelOptions["proxy"];
  readonly modelSource?: LocalModelOptions["modelSource"];
}

export interface App {
  readonly server: HttpServer;
  /** Null: the configuration has no admin listener. */
  readonly admin: HttpServer | null;
  readonly gateway: GatewayServices;
  readonly jobs: JobServices;
  /** Address of the built-in sandbox. */
  readonly sandboxOrigin: string;
  /** Resolves once all previously committed changes of connections, routes and prices are in force. */
  refreshDirectory(): Promise<void>;
  /** Resolves once all usage of chats so far is recorded. */
  settled(): Promise<void>;
  readonly requestLog: Pick<RequestLog, "flush" | "sweep">;
  readonly usage: Pick<RollUp, "roll">;
  readonly alerts: Pick<Alerts, "runNow">;
  /** Asks the accounts that were not asked today when their models end, whether or not the operator switched it on. Returns how many. */
  askProviders(): Promise<number>;
  /** The models that are loaded on this machine. */
  readonly recognisers: Pick<Recognisers, "report">;
  /** From now on `/readyz` returns 503 and replies close their connection. New work is refused once the listener is closed. */
  startDraining(): void;
  /** Stops everything except the database, which the caller owns. Jobs have `graceMs` to finish the calls in flight. */
  close(options?: { readonly graceMs?: number }): Promise<void>;
}

type Accounting = Pick<GatewayServices, "ledger" | "leases" | "idempotency" | "quotas">;
type Reach = Pick<GatewayServices, "providers" | "chatProviders" | "directory" | "openIo" | "sandboxUrl" | "logger">;

/** `streamIdleMs`: a stream silent for so long is broken. `statusLineMs`: how long the status line of a transcript waits for its first content. */
const STREAM_TIMES = { streamIdleMs: 60_000, statusLineMs: 15_000 };

function pickAccounting({ ledger, leases, idempotency, quotas }: Accounting): Accounting {
  return { ledger, leases, idempotency, quotas };
}

/** Recordings in files, and the decoder that writes to the same directory. */
async function openFiles({ configuration, ffmpeg }: Pick<AppOptions, "configuration" | "ffmpeg">) {
  const directory = join(configuration.storage.dataDir, "spool");
  return { spool: await openSpool({ directory }), decoder: createDecoder({ ffmpeg: ffmpeg ?? null, directory }) };
}

export async function createApp(options: AppOptions): Promise<App> {
  const { configuration, database, seal, logger } = options;
  const now = options.now ?? (() => new Date());
  const nowMs = () => now().getTime();
  let draining = false;

  const sandbox = await startSandbox();
  const outbound = openOutbound(options);
  const replies = openReplies(configuration);
  const threads = { measurer: createMeasurer(), transcripts: createTranscriptThread() };
  const recognisers = openRecognisers(configuration, logger);
  const files = await openFiles(options);
  const circuits = createCircuits(nowMs);
  const { alerts, metrics } = openObservers({ ...options, outbound, circuits, now, followed: () => caches });
  const vacuum = createDirtyTask(() => vacuumPurged(database));
  const accounts = openAccounts({ ...options, vacuum }, nowMs, metrics);
  const watched = { leases: accounts.leases, circuits, localState: recognisers.state };
  const caches = await openCaches({ ...options, ...watched }, nowMs);

  const reach: Reach = {
    providers,
    chatProviders,
    directory: caches.directory,
    openIo: openIoOver(configuration, { outbound, replies, nowMs, recognisers }),
    sandboxUrl: (kind, dialect) => sandboxUrl(sandbox, kind, dialect),
    logger,
  };
  const deletions = createProviderDeletions(database, reach);
  await deletions.report();
  const plain: GatewayServices = {
    ...reach,
    limits: configuration.limits,
    prices: caches.prices,
    ...threads,
    ...files,
    remoteAudio: openRemoteAudio(options, outbound, files.spool),
    circuits,
    observer: metrics,
    ...pickAccounting(accounts),
    ...STREAM_TIMES,
    deletions,
    now,
    modelClock: options.modelClock ?? now,
  };
  const gateway = options.wrapGateway?.(plain) ?? plain;
  const durable = await openJobs({ ...options, ...replies, gateway, outbound, nowMs, metrics, vacuum });
  const localModels = openLocalModels(options);
  const checkpoints = keepCheckpoints({ database, seal, objects: durable.jobs.objects, logger, now });
  const parts = {
    gateway,
    durable,
    spool: files.spool,
    parser: replies.parser,
    isDraining: () => draining,
    nowMs,
    readCheckpoint: checkpoints.read,
    metrics,
    records: accounts.records,
    keys: caches.keys,
    setUp: setUpServices(options, outbound, caches, gateway.modelClock),
    connectionTests: connectionTestServices(gateway, options, { outbound, replies, recognisers }, caches),
    health: { circuits, database, now },
    sandbox: sandboxLevers(sandbox),
    localModels: localModels.services,
  };
  const modelEnds = openModelEndQuestions(configuration, logger, parts.connectionTests);
  const { server, admin } = createServers(options, parts);

  const deletionSweep = createPeriodicTask(SWEEP_MS, logger, "delete at providers", () => deletions.sweep());
  const drain = (): void => {
    draining = true;
    durable.drain();
  };

  const close = async (graceMs: number): Promise<void> => {
    drain();
    const timers = [checkpoints, modelEnds, alerts];
    await Promise.all([caches.stopRefreshing(), accounts.stopSweeps(), ...timers.map((each) => each.stop())]);
    await Promise.all([server.close(), admin?.close()]);
    for (const each of [localModels, caches]) await each.close();
    await durable.close(graceMs);
    await Promise.all([deletionSweep.stop(), deletions.close(), metrics.close()]);
    await Promise.all([outbound.close(), recognisers.close()]);
    await accounts.close();
    await Promise.all([...Object.values(threads), replies.parser, files.spool, sandbox].map((each) => each.close()));
  };
  let closing: Promise<void> | null = null;

  return {
    server,
    admin,
    gateway,
    jobs: durable.jobs,
    sandboxOrigin: sandbox.origin,
    refreshDirectory: () => caches.refresh(),
    settled: () => accounts.leases.flush(),
    requestLog: accounts.requestLog,
    usage: accounts.rollUp,
    alerts,
    askProviders: () => modelEnds.ask(),
    recognisers,
    startDraining: drain,
    close: ({ graceMs = 0 } = {}) => (closing ??= close(graceMs)),
  };
}
