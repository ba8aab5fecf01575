// `patchbay up`: starts a gateway, with first keys if it has none, and shuts it down on a signal.
import { listen, type ListenAt } from "../http/server/listen.ts";
import { setTimeout as wait } from "node:timers/promises";
import { type App, createApp } from "../compose/app.ts";
import { awaitPort, realTime } from "./await-predecessor.ts";
import type { UpOptions } from "../cli/operate/process-commands.ts";
import { EXIT } from "../cli/exit-codes.ts";
import { reachableHost } from "../config/reachable-host.ts";
import { releaseStartMemory } from "./release-memory.ts";
import { removeRunningGateway, type RunningGateway, writeRunningGateway } from "../config/running-gateway.ts";
import type { PeriodicTask } from "../lib/concurrency/periodic-task.ts";
import { drain } from "../http/server/drain.ts";
import { type FirstStart, firstStart } from "./first-start.ts";
import { type PreparedProcess, prepare } from "./prepare.ts";
import { followModels } from "./follow-models.ts";
import { localModelNote } from "./local-speech.ts";
import { routeLines } from "./route-lines.ts";
import { type PortProblem, portsError } from "./require-ports.ts";
import { reportStart } from "./start-report.ts";
import { stopSignal } from "./stop-signal.ts";

const ACCEPT_WHILE_DRAINING_MS = 5_000;
/** A connection that is used at least every 15 s loses no request. */
const KEPT_WHILE_DRAINING_MS = 10_000;

/** Runs until SIGTERM or SIGINT; resolves with the exit code. `processNumber`: from 1 to `options.processes`. */
export async function up(
  options: UpOptions,
  processNumber: number,
  orphaned: Promise<void> | null = null,
): Promise<number> {
  const prepared = await prepare({
    ...options,
    isQuiet: processNumber > 1,
    // With several processes, their parent owns the embedded server (start/processes.ts).
    embedded: options.processes > 1 ? "join" : "own",
  });
  if (typeof prepared === "number") return prepared;
  const { configuration, database, pepper, applied } = prepared;
  const { dataDir } = configuration.storage;
  const isFirst = processNumber === 1;
  const isEmbedded = configuration.storage.databaseUrl === null;
  const first = isFirst ? await firstStart({ database, pepper, dataDir, isEmbedded, ...applied }) : null;
  const app = await createApp(prepared);
  releaseStartMemory();
  // Before requests are served: what begins while the start is reported is drained too.
  const stopped = stopSignal(orphaned);
  const listeners = await openListeners(app, prepared, processNumber).catch(async (error: unknown) => {
    // Otherwise half of a gateway would stay alive unnoticed.
    await app.close();
    await database.close();
    await prepared.endLog();
    throw error;
  });
  const place: Place = {
    ...listeners,
    overridden: {
      url: options.host !== undefined || options.port !== undefined,
      adminUrl: options.adminPort !== undefined,
    },
  };
  if (first === null) return untilStopped(app, prepared, { stopped, place: null, models: null });
  const isRecorded = await writeRunningGateway(dataDir, { ...place, isStopping: false });
  await report(prepared, first, listeners, isRecorded);
  // The self-check of a first start, which no request can meet yet, leaves as much behind.
  if (first.appKeys !== null) releaseStartMemory();
  const models = followModels(prepared, app);
  return untilStopped(app, prepared, { stopped, place, models });
}

interface Listeners {
  readonly url: string;
  /** Null: there is no admin listener. */
  readonly adminUrl: string | null;
}

type Place = Omit<RunningGateway, "pid" | "isStopping">;

async function openListeners(app: App, prepared: PreparedProcess, processNumber: number): Promise<Listeners> {
  const { configuration, step } = prepared;
  const { host, port, admin } = configuration.server;
  step(`sandbox      ${app.sandboxOrigin} (simulated providers, loopback only)`);
  const url = await listenOr(app.server, prepared, { host, port }, "--port");
  step(`listening    ${url}`);
  if (app.admin === null || admin === null) return { url: reachable(url), adminUrl: null };
  const adminUrl = await listenOr(app.admin, prepared, ownAdmin(admin, processNumber), "--admin-port");
  step(`admin        ${adminUrl} (operator's keys only; in a browser: patchbay console)`);
  return { url: reachable(url), adminUrl: reachable(adminUrl) };
}

async function listenOr(
  server: App["server"],
  { configuration, step }: PreparedProcess,
  at: ListenAt,
  option: PortProblem["option"],
): Promise<string> {
  await awaitPort(configuration.storage.dataDir, at, realTime(step));
  try {
    return await listen(server, at);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : null;
    if (code === null) throw error;
    throw portsError([{ ...at, code, option }]);
  }
}

/** Each process reports its own health and metrics, so each needs an admin port of its own. */
function ownAdmin({ host, port }: { readonly host: string; readonly port: number }, processNumber: number) {
  return { host, port: port === 0 ? 0 : port + processNumber - 1, exclusive: true };
}

/** A callable form of a listening address: a wildcard address cannot be called. */
function reachable(address: string): string {
  const { protocol, hostname, port } = new URL(address);
  return `${protocol}//${reachableHost(hostname.replace(/^\[|\]$/gu, ""))}:${port}`;
}

async function report(
  { applied, configuration, file, isFoundFromHere, say }: PreparedProcess,
  first: FirstStart,
  { url, adminUrl }: Listeners,
  isRecorded: boolean,
): Promise<void> {
  for (const note of applied.notes) say(`\n${note}`);
  const derived = file === null ? configuration : applied.isBootstrapped ? configuration.bootstrap : null;
  if (derived !== null) {
    say("\nModels, in the order in which they are tried:");
    for (const line of routeLines(derived, Date.now(), (model) => localModelNote(configuration.models.dir, model)))
      say(`  ${line}`);
  }
  const isFound = isFoundFromHere && isRecorded;
  await reportStart(say, {
    first,
    url,
    adminUrl,
    flags: isFound ? "" : ` --url ${url} --api-key "$(cat ${first.keyFile ?? "KEY"})"`,
    configFlag: isFoundFromHere || file === null ? "" : ` --config ${file}`,
  });
}

interface RunningParts {
  readonly stopped: Promise<NodeJS.Signals>;
  readonly place: Place | null;
  readonly models: PeriodicTask | null;
}

async function untilStopped(
  app: App,
  { database, configuration, say, endLog }: PreparedProcess,
  { stopped, place, models }: RunningParts,
): Promise<number> {
  const { dataDir } = configuration.storage;
  const signal = await stopped;
  // Lets a restart wait for this process instead of failing.
  if (place !== null) await writeRunningGateway(dataDir, { ...place, isStopping: true }).catch(() => false);
  const stoppingSinceMs = performance.now();
  app.startDraining();
  say(`\n${signal}: finishing requests in progress`);
  const [acceptMs, keptMs] = signal === "SIGINT" ? [0, 0] : [ACCEPT_WHILE_DRAINING_MS, KEPT_WHILE_DRAINING_MS];
  const { syncTimeoutSeconds, workerGraceSeconds } = configuration.limits;
  // The admin listener stays open for monitoring of the shutdown; `close` ends it.
  await drain(app.server, {
    acceptMs,
    keptMs,
    finishMs: syncTimeoutSeconds * 1000,
    wait: (ms) => wait(ms, undefined, { ref: false }),
  });
  await models?.stop();
  // Jobs have been finishing during the drain.
  await app.close({ graceMs: Math.max(0, workerGraceSeconds * 1000 - (performance.now() - stoppingSinceMs)) });
  await database.close();
  if (place !== null) await removeRunningGateway(dataDir).catch(() => undefined);
  await endLog();
  return EXIT.ok;
}
