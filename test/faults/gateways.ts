// Starts gateways as an operator does, on one PostgreSQL server or with embedded storage, with a sandbox as their provider.
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Sandbox, startSandbox } from "../../sandbox/server.ts";
import type { ConfigurationFile } from "../../src/config/schema/file.ts";
import { embeddedUrl } from "../../src/storage/embedded/server.ts";
import { ENCRYPTION_KEY, PEPPER } from "../harness/gateway.ts";
import { type OpenDatabase, openSystemDatabase } from "../harness/postgres/database.ts";
import { type PostgresServer, startPostgresServer } from "../harness/postgres/postgres-server.ts";
import { untilServerGone } from "./embedded/server-processes.ts";
import { createPatchbayProcess, type PatchbayProcess } from "./jobs/patchbay-process.ts";

export interface Gateways extends AsyncDisposable {
  readonly processes: readonly PatchbayProcess[];
  /** Their addresses, in the same order. */
  readonly origins: readonly string[];
  /** The trial's own handle, like that of an operator's tool. */
  readonly database: OpenDatabase;
  readonly sandbox: Sandbox;
  readonly postgres: Pick<PostgresServer, "url" | "restart">;
  /** Shared by all of them. */
  readonly dataDir: string;
}

export const GATEWAYS = 3;
/** Enough for a whole trial, which counts provider calls from it. */
const KEPT_CALLS = 1_000_000;

export interface GatewaysOptions {
  readonly count?: number;
  /** Node.js options of a gateway, by its index. */
  readonly nodeOptions?: (index: number) => readonly string[];
  /** Address by which a gateway reaches the database. Default: the server's own. */
  readonly databaseUrl?: (url: string, index: number) => Promise<string>;
  /** Node.js flags, instead of those for processes that live for minutes. */
  readonly flags?: readonly string[];
  /** Number of latest calls that the sandbox remembers. Default: all. */
  readonly keepCalls?: number;
  /** A server that the trial starts and stops. Default: a new one. */
  readonly postgres?: Gateways["postgres"];
  /** One gateway with its own server. */
  readonly isEmbedded?: boolean;
  /** Further `storage` fields of the configuration, besides the database and the folder. */
  readonly storage?: ConfigurationFile["storage"];
}

export async function startGateways(
  fileOf: (sandbox: Sandbox) => ConfigurationFile,
  options: GatewaysOptions = {},
): Promise<Gateways> {
  const { count = GATEWAYS, nodeOptions = () => [], databaseUrl = async (url) => url, isEmbedded = false } = options;
  await using resources = new AsyncDisposableStack();
  const postgres = isEmbedded ? EMBEDDED : (options.postgres ?? (await startOwn(resources)));
  const sandbox = await startSandbox({ keepCalls: options.keepCalls ?? KEPT_CALLS });
  resources.defer(() => sandbox.close());
  const folder = await mkdtemp(join(tmpdir(), "patchbay-tenant-faults-"));
  resources.defer(() => rm(folder, { recursive: true, force: true }));
  // As root, the embedded server runs under another account, which must be able to enter.
  await chmod(folder, 0o711);
  const dataDir = join(folder, "data");
  if (isEmbedded) resources.defer(async () => void (await untilServerGone(dataDir, SERVER_ENDS_MS)));
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
    resources.defer(() => gateway.kill());
    // The first gateway creates the tables.
    await gateway.start();
    processes.push(gateway);
  }
  const database = await openSystemDatabase({
    databaseUrl: isEmbedded ? ((await embeddedUrl(dataDir)) ?? "") : postgres.url,
    poolSize: 2,
  });
  resources.defer(() => database.close());
  const owned = resources.move();
  return {
    processes,
    origins: processes.map(({ origin }) => origin ?? ""),
    database,
    sandbox,
    postgres,
    dataDir,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

const EMBEDDED: Gateways["postgres"] = {
  url: "",
  restart: () => Promise.reject(new Error("an embedded server is not restarted by a trial")),
};
const SERVER_ENDS_MS = 20_000;

async function startOwn(resources: AsyncDisposableStack): Promise<PostgresServer> {
  const postgres = await startPostgresServer();
  resources.defer(() => postgres.stop());
  return postgres;
}
