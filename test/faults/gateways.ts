// Gateways as an operator starts them, on one PostgreSQL server or with embedded storage, with a sandbox as their provider.
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Sandbox, startSandbox } from "../../sandbox/server.ts";
import type { ConfigurationFile } from "../../src/config/schema/file.ts";
import { type Database } from "../../src/storage/database.ts";
import { openDatabase } from "../../src/storage/open-database.ts";
import { embeddedUrl } from "../../src/storage/embedded/server.ts";
import { ENCRYPTION_KEY, PEPPER } from "../harness/gateway.ts";
import { type PostgresServer, startPostgresServer } from "../harness/postgres-server.ts";
import { untilServerGone } from "./embedded/server-processes.ts";
import { createPatchbayProcess, type PatchbayProcess } from "./jobs/patchbay-process.ts";

export interface Gateways extends AsyncDisposable {
  readonly processes: readonly PatchbayProcess[];
  /** Where they listen, in the same order. */
  readonly origins: readonly string[];
  /** The trial's own handle, as an operator's tool has it. */
  readonly database: Database;
  readonly sandbox: Sandbox;
  readonly postgres: Pick<PostgresServer, "url" | "restart">;
  /** Of all of them. */
  readonly dataDir: string;
}

export const GATEWAYS = 3;
/** Of a whole trial: how often a provider was called is read from it. */
const KEPT_CALLS = 1_000_000;

export interface GatewaysOptions {
  readonly count?: number;
  /** What a gateway's Node is started with, by its index. */
  readonly nodeOptions?: (index: number) => readonly string[];
  /** By which address a gateway reaches the database: the server's own, unless told otherwise. */
  readonly databaseUrl?: (url: string, index: number) => Promise<string>;
  /** Of Node, instead of those for processes that live for minutes. */
  readonly flags?: readonly string[];
  /** How many of its latest calls the sandbox remembers; all of them unless given. */
  readonly keepCalls?: number;
  /** A server that the trial started and stops; one of its own unless given. */
  readonly postgres?: Gateways["postgres"];
  /** One gateway, whose server is its own. */
  readonly isEmbedded?: boolean;
  /** Of the configuration's `storage`, besides the database and the folder. */
  readonly storage?: ConfigurationFile["storage"];
}

export async function startGateways(
  fileOf: (sandbox: Sandbox) => ConfigurationFile,
  options: GatewaysOptions = {},
): Promise<Gateways> {
  const { count = GATEWAYS, nodeOptions = () => [], databaseUrl = async (url) => url, isEmbedded = false } = options;
  await using opened = new AsyncDisposableStack();
  const postgres = isEmbedded ? EMBEDDED : (options.postgres ?? (await startOwn(opened)));
  const sandbox = await startSandbox({ keepCalls: options.keepCalls ?? KEPT_CALLS });
  opened.defer(() => sandbox.close());
  const folder = await mkdtemp(join(tmpdir(), "patchbay-tenant-faults-"));
  opened.defer(() => rm(folder, { recursive: true, force: true }));
  // Root's embedded server runs as another account, which has to pass through.
  await chmod(folder, 0o711);
  const dataDir = join(folder, "data");
  if (isEmbedded) opened.defer(async () => void (await untilServerGone(dataDir, SERVER_ENDS_MS)));
  const processes: PatchbayProcess[] = [];
  for (let index = 0; index < count; index += 1) {
    const name = `gateway-${index + 1}`;
    const configFile = join(folder, `${name}.yaml`);
    await writeFile(
      configFile,
      JSON.stringify({
        ...fileOf(sandbox),
        server: { host: "127.0.0.1", port: 0, admin: null },
        storage: {
          ...options.storage,
          database_url: isEmbedded ? "" : await databaseUrl(postgres.url, index),
          data_dir: dataDir,
        },
        secrets: {
          key_pepper: PEPPER.toString("base64"),
          encryption_keys: [ENCRYPTION_KEY.toString("base64")],
        },
      }),
    );
    const gateway = createPatchbayProcess({
      name,
      command: "up",
      configFile,
      folder,
      nodeOptions: nodeOptions(index),
      ...(options.flags === undefined ? {} : { flags: options.flags }),
    });
    opened.defer(() => gateway.kill());
    // The first makes the tables.
    await gateway.start();
    processes.push(gateway);
  }
  const database = await openDatabase({
    databaseUrl: isEmbedded ? ((await embeddedUrl(dataDir)) ?? "") : postgres.url,
    poolSize: 2,
  });
  opened.defer(() => database.close());
  const kept = opened.move();
  return {
    processes,
    origins: processes.map(({ origin }) => origin ?? ""),
    database,
    sandbox,
    postgres,
    dataDir,
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

const EMBEDDED: Gateways["postgres"] = {
  url: "",
  restart: () => Promise.reject(new Error("an embedded server is not restarted by a trial")),
};
const SERVER_ENDS_MS = 20_000;

async function startOwn(opened: AsyncDisposableStack): Promise<PostgresServer> {
  const postgres = await startPostgresServer();
  opened.defer(() => postgres.stop());
  return postgres;
}
