// `patchbay up`: configuration, secrets, storage, first-start set-up, listening, and the way down (contract 10).
import { setTimeout as wait } from "node:timers/promises";
import { destination, pino } from "pino";
import type { App } from "./app.ts";
import { createApp } from "./app.ts";
import type { UpOptions } from "./cli/run-cli.ts";
import { EXIT } from "./cli/exit-codes.ts";
import type { Configuration } from "./config/configuration.ts";
import { formatFault } from "./config/fault.ts";
import { loadConfiguration } from "./config/load-configuration.ts";
import { applyConfiguration } from "./directory/apply-configuration.ts";
import { drain } from "./http/drain.ts";
import { type FirstStart, firstStart, selfCheck } from "./first-start.ts";
import { type Database, openDatabase } from "./storage/database.ts";
import { openSecrets } from "./storage/open-secrets.ts";
import { createSeal } from "./storage/seal.ts";

/** Run from sources, or from the published build. */
const IN_CHECKOUT = import.meta.url.endsWith(".ts");
const ACCEPT_WHILE_DRAINING_MS = 5_000;

/** Runs until SIGTERM or SIGINT; resolves with the exit code. */
export async function up(options: UpOptions): Promise<number> {
  const started = performance.now();
  const say = (text: string) => process.stderr.write(`${text}\n`);
  const loaded = loadConfiguration({
    file: options.config,
    env: process.env,
    cwd: process.cwd(),
    overrides: { host: options.host, port: options.port },
  });
  if (!loaded.ok) {
    for (const fault of loaded.faults) say(formatFault(fault));
    return EXIT.config;
  }
  const { configuration, file } = loaded;
  say(`patchbay ${file === null ? "without a configuration file" : `with ${file}`}`);
  for (const warning of loaded.warnings) say(`warning: ${formatFault(warning)}`);
  const step = steps(say, started);

  const secrets = await openSecrets({ ...configuration.storage, ...configuration.secrets });
  if (!secrets.ok) {
    for (const fault of secrets.faults) say(`${file ?? "environment"}: ${fault}`);
    return EXIT.config;
  }
  const seal = createSeal({ keys: secrets.encryptionKeys });
  step(`secrets      ${secrets.where}`);
  const database = await openDatabase({
    databaseUrl: configuration.storage.databaseUrl ?? undefined,
    migrateUrl: configuration.storage.migrateUrl ?? undefined,
    dataDir: configuration.storage.dataDir,
  });
  step(
    `storage      ${database.engine === "pglite" ? `embedded, in ${configuration.storage.dataDir}` : "PostgreSQL server"}, schema up to date`,
  );
  await applyConfiguration({ database, seal, pepper: secrets.pepper }, configuration, {
    revokeMissingKeys: file !== null,
  });
  const first =
    file === null
      ? await firstStart({ database, pepper: secrets.pepper, dataDir: configuration.storage.dataDir })
      : null;
  const logger = pino({ base: null, timestamp: pino.stdTimeFunctions.isoTime }, destination(1));
  const app = await createApp({ configuration, database, seal, pepper: secrets.pepper, logger });
  step(`sandbox      ${app.sandboxOrigin} (simulated providers, loopback only)`);
  const address = await app.server.listen({ host: configuration.server.host, port: configuration.server.port });
  step(`listening    ${address}`);
  for (const note of configuration.notes) say(`\n${note}`);
  if (first !== null) await announce(say, first, address);
  return untilStopped(app, database, configuration, say);
}

function steps(say: (text: string) => void, started: number): (text: string) => void {
  return (text) => say(`  ${((performance.now() - started) / 1000).toFixed(1).padStart(5)} s  ${text}`);
}

/** A new installation shows its key once, and that it works: the sample through the sandbox, over its own public API. */
async function announce(say: (text: string) => void, first: FirstStart, address: string): Promise<void> {
  if (first.created !== null) {
    const checked = await selfCheck(address, first);
    say(
      `\nSelf-check: the bundled sample through the sandbox, so nothing was spent and nothing recognised:\n  ${checked}`,
    );
    say(`\nYour API key, shown this once (the command line finds it in ${first.keyFile}):\n  ${first.created.appKey}`);
    say(`The operator's key is in ${first.operatorKeyFile}.`);
    say("\nTry it:");
    say(
      `  curl -s ${address}/v1/transcription -H "Authorization: Bearer ${first.created.appKey}" -F file=@${first.samplePath}`,
    );
  } else {
    say("\nTry it:");
    say(
      `  curl -s ${address}/v1/transcription -H "Authorization: Bearer $(cat ${first.keyFile})" -F file=@${first.samplePath}`,
    );
  }
  say(`  ${IN_CHECKOUT ? "npm run patchbay --" : "npx patchbay"} transcribe --sample`);
  say(
    `\nA real provider: DEEPGRAM_API_KEY=… ${IN_CHECKOUT ? "npm start" : "npx patchbay up"} (or OPENAI_API_KEY, PATCHBAY_LOCAL_STT_URL), or a patchbay.yaml; see patchbay.example.yaml.`,
  );
}

async function untilStopped(
  app: App,
  database: Database,
  configuration: Configuration,
  say: (text: string) => void,
): Promise<number> {
  const signal = await new Promise<NodeJS.Signals>((resolve) => {
    for (const name of ["SIGTERM", "SIGINT"] as const) process.once(name, resolve);
  });
  app.startDraining();
  say(`\n${signal}: finishing what runs`);
  // A second signal ends the process there and then.
  for (const name of ["SIGTERM", "SIGINT"] as const) process.once(name, () => process.exit(EXIT.interrupted));
  const acceptMs = signal === "SIGINT" ? 0 : ACCEPT_WHILE_DRAINING_MS;
  await drain(app.server, {
    acceptMs,
    finishMs: configuration.limits.syncTimeoutSeconds * 1000,
    wait: (ms) => wait(ms, undefined, { ref: false }),
  });
  await app.close();
  await database.close();
  return EXIT.ok;
}
