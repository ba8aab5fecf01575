// `patchbay doctor`, checks of storage: the database, its schema and clock, the object store. It neither migrates nor creates anything.
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import type { Configuration } from "../../config/configuration.ts";
import { readRunningGateway } from "../../config/running-gateway.ts";
import { objectStoreSettings, openObjectStore } from "../../objects/store.ts";
import type { Terminal } from "../../cli/terminal.ts";
import type { Database } from "../../storage/database.ts";
import { migrationState } from "../../storage/schema/migrate.ts";
import { describePooling, PoolerRefused, requireListening } from "../../storage/connection/pooler.ts";
import { MOVED, readMoved } from "../../storage/connection/moved-database.ts";
import { chooseAccount, LAST_RESORT } from "../../storage/embedded/account.ts";
import { OLDEST_MAJOR } from "../../storage/embedded/binaries.ts";
import { readPlacement } from "../../storage/embedded/placement.ts";
import { EmbeddedUnavailable, hasEmbeddedDatabase } from "../../storage/embedded/server.ts";
import { openStorage } from "../../storage/connection/open-storage.ts";
import { readServerTime, readServerVersion, readSessionFacts } from "../../storage/connection/server-facts.ts";
import { ServerUnavailable } from "../../storage/connection/server-fault.ts";
import { askReadiness } from "./check-network.ts";
import { checkTenantRoles } from "./check-tenant-roles.ts";
import { fail, type Finding, ok, reasonOf, warn } from "./finding.ts";
import type { SystemHandle } from "../../storage/database.ts";
import { bypassRls } from "../../storage/system.ts";

/** Leases last seconds, and every process compares them with the database's clock. */
const NOTICEABLE_MS = 2_000;
/** Webhook signatures and result URLs are valid for minutes. */
const HARMFUL_MS = 60_000;

/** `look` checks rows. It runs while the database is open, and only if its schema is current. */
export async function checkStorage(
  { storage }: Configuration,
  { env }: Pick<Terminal, "env">,
  look: (db: SystemHandle, database: Database) => Promise<readonly Finding[]> = async () => [],
): Promise<readonly Finding[]> {
  const isEmbedded = storage.databaseUrl === null;
  if (isEmbedded) {
    const moved = await readMoved(storage.dataDir);
    if (moved !== null) return [fail("storage", MOVED.message(moved, storage.dataDir), MOVED.fix(storage.dataDir))];
    if (!(await hasEmbeddedDatabase(storage.dataDir))) return [ok("storage", "embedded; the first start creates it")];
  }
  await using opened = new AsyncDisposableStack();
  let database: Database;
  try {
    database = await openStorage(storage, { poolSize: 1, asItIs: true, embedded: "either", path: env["PATH"] });
    opened.defer(() => database.close());
    await database.ping();
  } catch (error) {
    if (error instanceof ServerUnavailable) return [fail("storage", error.message, error.check)];
    if (error instanceof EmbeddedUnavailable) return [fail("storage", error.message, error.hints.join("; "))];
    return [
      isEmbedded
        ? fail("storage", `the embedded database cannot be opened: ${reasonOf(error)}`, "restore the last backup")
        : fail(
            "storage",
            `the database server does not respond: ${reasonOf(error)}`,
            "check storage.database_url, the network, and the user's rights",
          ),
    ];
  }
  const schema = await checkSchema(database);
  return [
    ...(await describe(database, isEmbedded)),
    ...(isEmbedded ? await checkPlacement(storage) : await checkPooler(database, storage)),
    ...(isEmbedded
      ? await checkOwner(storage.dataDir)
      : await checkTenantRoles(bypassRls(database, "installation").db)),
    schema,
    await checkClock(database),
    ...(schema.level === "ok" ? await look(bypassRls(database, "installation").db, database) : []),
  ];
}

/** Asks the gateway that runs the embedded database, if there is one, for its readiness. */
async function checkOwner(dataDir: string): Promise<readonly Finding[]> {
  const gateway = readRunningGateway(dataDir);
  if (gateway === null) return [];
  const answer = await askReadiness(gateway.url);
  if (answer === "ready") return [ok("storage", `in use by process ${gateway.pid}, a ready gateway at ${gateway.url}`)];
  return [
    gateway.isStopping
      ? warn("storage", `in use by process ${gateway.pid}, which is stopping`, "wait until it has stopped")
      : fail(
          "storage",
          `in use by process ${gateway.pid}, a gateway that is not ready: ${gateway.url}/readyz ${answer}`,
          "see its log",
        ),
  ];
}

async function describe(database: Database, isEmbedded: boolean): Promise<readonly Finding[]> {
  const { db } = bypassRls(database, "installation");
  const version = (await readServerVersion(db)) ?? "?";
  return [
    Number.parseInt(version, 10) >= OLDEST_MAJOR
      ? ok("storage", `${isEmbedded ? "embedded, " : ""}PostgreSQL ${version}`)
      : fail("storage", `PostgreSQL ${version} is too old`, `use PostgreSQL ${OLDEST_MAJOR} or newer`),
  ];
}

async function checkPlacement({ dataDir, runAs }: Configuration["storage"]): Promise<readonly Finding[]> {
  const { home, isRelocated } = await readPlacement(dataDir);
  const account = await chooseAccount(runAs, dataDir);
  return [
    ...(isRelocated
      ? [ok("storage", `its files are in ${home}: its account ${account?.name ?? ""} cannot enter ${dataDir}`)]
      : []),
    ...(account?.name === LAST_RESORT
      ? [
          warn(
            "storage",
            `the embedded database runs as ${LAST_RESORT}, so other programs of that account can read its files`,
            "create a dedicated account (useradd --system patchbay), or start the gateway as an ordinary user",
          ),
        ]
      : []),
  ];
}

/** Reports no finding without a pooler and without a separate listen URL. */
async function checkPooler(database: Database, { listenUrl }: Configuration["storage"]): Promise<readonly Finding[]> {
  const { direct, db } = bypassRls(database, "installation");
  if (direct.pooling === "none" && listenUrl === null) return [];
  const { databaseUrl, pooling } = direct;
  try {
    await requireListening(direct, { databaseUrl, listenUrl });
  } catch (error) {
    if (error instanceof PoolerRefused || error instanceof ServerUnavailable)
      return [fail("storage", error.message, error.check)];
    throw error;
  }
  const heard = listenUrl === null ? "" : "; notifications use storage.listen_url";
  const text = `${pooling === "none" ? "none" : describePooling(direct)}${heard}`;
  const session = await readSessionFacts(db);
  return pooling === "transaction" && session?.jit === "on"
    ? [
        warn(
          "storage",
          `${text}; the server uses JIT compilation outside of transactions`,
          `alter role ${session.login} set jit = off`,
        ),
      ]
    : [ok("storage", text)];
}

async function checkSchema(database: Database): Promise<Finding> {
  const { db } = bypassRls(database, "installation");
  const { pending, unknown } = await migrationState(db);
  if (unknown.length > 0)
    return fail(
      "migrations",
      `the database was migrated by a newer version of patchbay (it has ${unknown.join(", ")})`,
      "start that version, or restore a backup made before the upgrade",
    );
  return pending.length === 0
    ? ok("migrations", "the schema is up to date")
    : warn("migrations", `${pending.length} to run: ${pending.join(", ")}`, "back up, then run `patchbay up`");
}

async function checkClock(database: Database): Promise<Finding> {
  const { db } = bypassRls(database, "installation");
  const before = Date.now();
  const serverTime = await readServerTime(db);
  const after = Date.now();
  const offset = (serverTime?.getTime() ?? Number.NaN) - (before + after) / 2;
  // The true offset may differ by half the round trip.
  const off = Math.max(0, Math.abs(offset) - (after - before) / 2);
  const text = `${Math.round(off)} ms off the database's clock`;
  if (off > HARMFUL_MS) return fail("clock", text, "synchronise both machines' clocks (NTP)");
  return off > NOTICEABLE_MS ? warn("clock", text, "synchronise both machines' clocks (NTP)") : ok("clock", text);
}

/** Writes, reads and removes a test object in S3. Nothing to test for a directory, which is part of the data directory. */
export async function checkObjects({ storage }: Configuration): Promise<Finding> {
  if (storage.objects.kind === "file")
    return storage.databaseUrl === null
      ? ok("objects", `in ${join(storage.dataDir, "objects")}`)
      : warn(
          "objects",
          `in ${join(storage.dataDir, "objects")}, with a server database`,
          "gateways and workers on several machines need a shared data_dir, or storage.objects of kind s3",
        );
  try {
    const store = await openObjectStore(objectStoreSettings(storage));
    try {
      const key = `doctor/${randomUUID()}`;
      await store.put(key, chunks(Buffer.from("doctor")), 6);
      for await (const chunk of await store.open(key)) void chunk;
      await store.remove(key);
    } finally {
      store.close();
    }
    return ok("objects", `bucket ${storage.objects.bucket} can write, read and delete an object`);
  } catch (error) {
    return fail(
      "objects",
      `bucket ${storage.objects.bucket}: ${reasonOf(error)}`,
      "check storage.objects and the account's rights",
    );
  }
}

async function* chunks(bytes: Buffer): AsyncGenerator<Uint8Array> {
  yield bytes;
}
