// A whole gateway on loopback for one test file: the real server, a real database, and a sandbox instead of every provider.
import { createHash } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Sandbox, startSandbox } from "../../sandbox/server.ts";
import { type App, type AppOptions, createApp } from "../../src/compose/app.ts";
import type { Configuration } from "../../src/config/configuration.ts";
import { loadConfiguration } from "../../src/config/load-configuration.ts";
import type { ConfigurationFile } from "../../src/config/schema/file.ts";
import { applyConfiguration } from "../../src/directory/apply-configuration.ts";
import type { GatewayServices } from "../../src/gateway/services.ts";
import { listen } from "../../src/http/server/listen.ts";
import { createLogger } from "../../src/lib/logger.ts";
import { createSeal } from "../../src/storage/secrets/seal.ts";
import { type ConfigurationParts, configurationWith } from "./configuration.ts";
import { type OpenDatabase, openTestDatabase } from "./postgres/database.ts";

/** Deterministic, but random enough to pass the check for weak secrets. */
const secretOf = (name: string) => createHash("sha256").update(name).digest();
export const PEPPER = secretOf("pepper of the tests");
export const ENCRYPTION_KEY = secretOf("encryption key of the tests");
/** The key of the app that most tests use. */
export const KEY = "test-key-of-the-notes-app-01";
export const OTHER_KEY = "test-key-of-another-workspace-01";

export interface TestGateway {
  readonly app: App;
  readonly origin: string;
  /** Of the admin listener. */
  readonly adminOrigin: string;
  /** Replaces the providers of every connection of `standardFile`. */
  readonly sandbox: Sandbox;
  readonly database: OpenDatabase;
  readonly configuration: Configuration;
  readonly dataDir: string;
  readonly logs: readonly string[];
  close(): Promise<void>;
}

export interface TestGatewayOptions {
  readonly file?: (sandbox: Sandbox) => ConfigurationFile;
  readonly wrapGateway?: AppOptions["wrapGateway"];
  readonly now?: () => Date;
  /** The clock by which models retire. Default: `MODEL_DAY`, so that no test depends on the day on which it runs. */
  readonly modelClock?: () => Date;
  /** Resolver and connector for addresses from callers; by default none is reachable. */
  readonly network?: NonNullable<AppOptions["network"]>;
  /** Another process on the same database, directory and providers; shared parts outlive it. */
  readonly existing?: Pick<TestGateway, "dataDir" | "sandbox" | "database">;
  readonly works?: boolean;
  /** Manifest, hosts and way out of models that run on this machine. */
  readonly modelSource?: NonNullable<AppOptions["modelSource"]>;
  readonly otlp?: NonNullable<AppOptions["otlp"]>;
  /** The key ring. Default: only `ENCRYPTION_KEY`. */
  readonly encryptionKeys?: readonly Buffer[];
  /** Without ffmpeg only WAV and MP3 are decoded. */
  readonly ffmpeg?: string;
}

/** Disables circuit breakers for tests that fail the same targets repeatedly. */
export function neverResting(services: GatewayServices): GatewayServices {
  return { ...services, circuits: { isHealthy: () => true, begin: () => () => undefined } };
}

/** Tests query no real name server and open no outside connection through a request. */
const NOWHERE: NonNullable<AppOptions["network"]> = {
  resolve: async () => [],
  connect: () => Promise.reject(new Error("a test dialled an address it did not set up")),
};

/** Some models of the catalogue have ended by this day, and some end soon after it. */
export const MODEL_DAY = "2026-11-26";

export async function startGateway(options: TestGatewayOptions = {}): Promise<TestGateway> {
  // Closed in reverse order, also if a later step fails: an open database keeps the process alive.
  await using resources = new AsyncDisposableStack();
  const { dataDir, sandbox, database } = options.existing ?? (await openShared(resources));
  const configuration = await configurationOf((options.file ?? standardFile)(sandbox), dataDir);
  const seal = createSeal({ keys: options.encryptionKeys ?? [ENCRYPTION_KEY] });
  await applyConfiguration({ database, seal, pepper: PEPPER }, configuration, { isFile: true });
  const logs: string[] = [];
  const logger = createLogger({ write: (line: string) => logs.push(line) }, { level: "trace", isStrict: true });
  const app = await createApp({
    configuration,
    database,
    seal,
    pepper: PEPPER,
    logger,
    network: options.network ?? NOWHERE,
    ownFile: { path: fileIn(dataDir), load: () => loadIn(dataDir) },
    ...(options.wrapGateway === undefined ? {} : { wrapGateway: options.wrapGateway }),
    ...(options.now === undefined ? {} : { now: options.now }),
    modelClock: options.modelClock ?? (() => new Date(MODEL_DAY)),
    ...(options.otlp === undefined ? {} : { otlp: options.otlp }),
    ...(options.ffmpeg === undefined ? {} : { ffmpeg: options.ffmpeg }),
    ...(options.works === undefined ? {} : { works: options.works }),
    ...(options.modelSource === undefined ? {} : { modelSource: options.modelSource }),
  });
  resources.defer(() => app.close());
  const origin = await listen(app.server, { host: "127.0.0.1", port: 0 });
  const adminOrigin = app.admin === null ? "" : await listen(app.admin, { host: "127.0.0.1", port: 0 });
  const owned = resources.move();
  return {
    app,
    origin,
    adminOrigin,
    sandbox,
    database,
    configuration,
    dataDir,
    logs,
    close: () => owned.disposeAsync(),
  };
}

async function openShared(
  resources: AsyncDisposableStack,
): Promise<Pick<TestGateway, "dataDir" | "sandbox" | "database">> {
  const dataDir = await mkdtemp(join(tmpdir(), "patchbay-test-"));
  resources.defer(() => rm(dataDir, { recursive: true, force: true }));
  const sandbox = await startSandbox();
  resources.defer(() => sandbox.close());
  const database = await openTestDatabase();
  resources.defer(() => database.close());
  return { dataDir, sandbox, database };
}

const fileIn = (dataDir: string): string => join(dataDir, "patchbay.yaml");
const loadIn = (dataDir: string) => loadConfiguration({ file: fileIn(dataDir), env: {}, cwd: dataDir });

/** Through a real file, so that operators could write every test configuration. */
export async function configurationOf(file: ConfigurationFile, dataDir: string): Promise<Configuration> {
  await writeFile(fileIn(dataDir), JSON.stringify({ ...file, storage: { ...file.storage, data_dir: dataDir } }));
  const loaded = loadIn(dataDir);
  if (!loaded.ok) throw new Error(loaded.faults.map((fault) => `${fault.path}: ${fault.message}`).join("\n"));
  return loaded.configuration;
}

/** Deepgram, OpenAI and a compatible server, all simulated by the sandbox. */
export function sandboxConnections(sandbox: Sandbox): NonNullable<ConfigurationFile["connections"]> {
  return [
    { id: "dg", kind: "deepgram", api_key: "dg-secret", base_url: sandbox.deepgramUrl },
    { id: "oa", kind: "openai", api_key: "oa-secret", base_url: sandbox.openaiUrl },
    {
      id: "local",
      kind: "openai-compatible",
      base_url: sandbox.compatibleUrl("speaches"),
      models: { whisper: { capabilities: ["audio_input"], features: { timestamps: ["segment"] } } },
    },
  ];
}

/** Two workspaces with an app each, both on one route. */
export const standardParts = {
  scopes: ["transcribe", "jobs"],
  routes: { speech: ["dg/nova-3", "oa/whisper-1"] },
  apps: { notes: { route: "speech", key: KEY } },
  workspaces: { other: { apps: { app: { route: "speech", keys: { "other-key": OTHER_KEY } } } } },
} as const satisfies ConfigurationParts;

export function standardFile(sandbox: Sandbox): ConfigurationFile {
  return { ...configurationWith(sandbox, standardParts), connections: sandboxConnections(sandbox) };
}
