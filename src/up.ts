// `patchbay up`: first-start set-up, listening, and the way down (contract 10).
import { listen, type ListenAt } from "./http/listen.ts";
import { setTimeout as wait } from "node:timers/promises";
import { type App, createApp } from "./app.ts";
import type { UpOptions } from "./cli/process-commands.ts";
import { EXIT } from "./cli/exit-codes.ts";
import { urlFlag } from "./cli/gateway-url.ts";
import { IN_CHECKOUT } from "./cli/package-root.ts";
import { CliError } from "./cli/terminal.ts";
import { drain } from "./http/drain.ts";
import { type FirstStart, firstStart, selfCheck } from "./first-start.ts";
import { type Prepared, prepare } from "./prepare.ts";
import { stopSignal } from "./stop-signal.ts";

const ACCEPT_WHILE_DRAINING_MS = 5_000;
/** A connection that is used more often than every 15 s loses no request. */
const KEPT_WHILE_DRAINING_MS = 10_000;

const NEEDS_SERVER =
  "patchbay up --processes needs a PostgreSQL server (storage.database_url or DATABASE_URL): the embedded database belongs to one process.";

/** Runs until SIGTERM or SIGINT; resolves with the exit code. `processNumber`: of `options.processes`, from 1. */
export async function up(options: UpOptions, processNumber: number): Promise<number> {
  const prepared = await prepare({ ...options, isQuiet: processNumber > 1 }, ({ storage }) =>
    options.processes > 1 && storage.databaseUrl === null ? NEEDS_SERVER : null,
  );
  if (typeof prepared === "number") return prepared;
  const { configuration, file, database, pepper, say } = prepared;
  const first = file === null ? await firstStart({ database, pepper, dataDir: configuration.storage.dataDir }) : null;
  const app = await createApp(prepared);
  // Before anybody is served: what begins while all this is said is finished too.
  const stopped = stopSignal();
  const address = await openListeners(app, prepared, processNumber).catch(async (error: unknown) => {
    // Half of a gateway would live on, and nobody would know.
    await app.close();
    await database.close();
    await prepared.endLog();
    throw error;
  });
  if (processNumber > 1) return untilStopped(app, prepared, stopped);
  for (const note of configuration.notes) say(`\n${note}`);
  if (first !== null) await announce(say, first, address, app.admin !== null);
  return untilStopped(app, prepared, stopped);
}

/** Answers the public address. */
async function openListeners(
  app: App,
  { configuration, file, step }: Prepared,
  processNumber: number,
): Promise<string> {
  const { host, port, admin } = configuration.server;
  step(`sandbox      ${app.sandboxOrigin} (simulated providers, loopback only)`);
  const address = await listenOr(app.server, { host, port }, "patchbay up --port N");
  step(`listening    ${address}`);
  if (app.admin !== null && admin !== null)
    step(
      `admin        ${await listenOr(app.admin, ownAdmin(admin, processNumber), "server.admin.port in patchbay.yaml")} (${whoEnters(configuration.operatorKeys.length, file)})`,
    );
  return address;
}

/** Without a file the first start saved a key. */
function whoEnters(keys: number, file: string | null): string {
  return keys === 0 && file !== null
    ? "operator's keys only, and operator_keys in the configuration names none"
    : "operator's keys only; in a browser: patchbay console";
}

async function listenOr(server: App["server"], at: ListenAt, elsewhere: string): Promise<string> {
  try {
    return await listen(server, at);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : null;
    if (code === null) throw error;
    const why = code === "EADDRINUSE" ? "is taken by another process" : `cannot be listened on (${code})`;
    throw new CliError(EXIT.config, `${at.host}:${at.port} ${why}.`, {
      hints: [`choose another port: ${elsewhere}`, "see what else is in the way: patchbay doctor"],
    });
  }
}

/** What a process says of itself comes from that process, so each has a port of its own. */
function ownAdmin({ host, port }: { readonly host: string; readonly port: number }, processNumber: number) {
  return { host, port: port === 0 ? 0 : port + processNumber - 1, exclusive: true };
}

/** A new installation shows its key once, and that it works: the sample through the sandbox, over its own public API. */
async function announce(
  say: (text: string) => void,
  first: FirstStart,
  address: string,
  hasAdmin: boolean,
): Promise<void> {
  const { created, keyFile, operatorKeyFile, samplePath } = first;
  if (created !== null) {
    const checked = await selfCheck(address, samplePath, created.selfCheckKey);
    say(
      `\nSelf-check: the bundled sample through the sandbox, so nothing was spent and nothing recognised:\n  ${checked}`,
    );
    say(`\nYour API key, shown this once (the command line finds it in ${keyFile}):\n  ${created.appKey}`);
    say(`The operator's key is in ${operatorKeyFile}.`);
  }
  const key = created?.appKey ?? `$(cat ${keyFile})`;
  const command = IN_CHECKOUT ? "npm run patchbay --" : "npx patchbay-gateway";
  say("\nTry it:");
  say(`  curl -s ${address}/v1/transcription -H "Authorization: Bearer ${key}" -F file=@${samplePath}`);
  say(`  ${command} transcribe --sample${urlFlag(address)}`);
  say(`  in a browser, with that key: ${address}/playground`);
  if (hasAdmin) say(`  in a browser, for the operator: ${command} console`);
  say(`  what else there is: ${address}/docs, and what each error means: ${address}/docs/errors`);
  say(
    `\nA real provider: DEEPGRAM_API_KEY=… ${IN_CHECKOUT ? "npm start" : "npx patchbay-gateway up"} (or OPENAI_API_KEY, PATCHBAY_LOCAL_STT_URL), or a patchbay.yaml; see patchbay.example.yaml.`,
  );
}

async function untilStopped(
  app: App,
  { database, configuration, say, endLog }: Prepared,
  stopped: Promise<NodeJS.Signals>,
): Promise<number> {
  const signal = await stopped;
  const stoppingSinceMs = performance.now();
  app.startDraining();
  say(`\n${signal}: finishing what runs`);
  const [acceptMs, keptMs] = signal === "SIGINT" ? [0, 0] : [ACCEPT_WHILE_DRAINING_MS, KEPT_WHILE_DRAINING_MS];
  const { syncTimeoutSeconds, workerGraceSeconds } = configuration.limits;
  // The admin listener stays for whoever watches the end; `close` ends it.
  await drain(app.server, {
    acceptMs,
    keptMs,
    finishMs: syncTimeoutSeconds * 1000,
    wait: (ms) => wait(ms, undefined, { ref: false }),
  });
  // Jobs have been finishing all the while.
  await app.close({ graceMs: Math.max(0, workerGraceSeconds * 1000 - (performance.now() - stoppingSinceMs)) });
  await database.close();
  await endLog();
  return EXIT.ok;
}
