// What a start creates where nothing is set up [configuration.bootstrap]: the operator's key, and without any workspace the owner's, with an
// app and a key.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, beforeEach, afterEach, test } from "node:test";
import { loadConfiguration } from "../../src/config/load-configuration.ts";
import { newId } from "../../src/contract/ids.ts";
import { applyConfiguration } from "../../src/directory/apply-configuration.ts";
import { type FirstStart, firstStart } from "../../src/start/first-start.ts";
import { createSeal } from "../../src/storage/secrets/seal.ts";
import { openTestDatabase, type TestDatabase } from "../harness/postgres/database.ts";
import { ENCRYPTION_KEY, PEPPER } from "../harness/gateway.ts";

const folder = mkdtempSync(join(tmpdir(), "patchbay-bootstrap-"));
after(() => rmSync(folder, { recursive: true, force: true }));
let database: TestDatabase;
beforeEach(async () => {
  database = await openTestDatabase();
});
afterEach(() => database.close());

const PORTS = "server: { port: 18080 }\n";
const SECRET = "an-operator-key-of-24-characters";

function load(yaml: string, env: Readonly<Record<string, string>> = {}) {
  const file = join(mkdtempSync(join(folder, "file-")), "patchbay.yaml");
  writeFileSync(file, yaml);
  const loaded = loadConfiguration({ file, env, cwd: folder });
  assert.ok(loaded.ok, JSON.stringify(loaded));
  return loaded.configuration;
}

function apply(yaml: string, env: Readonly<Record<string, string>> = {}) {
  const seal = createSeal({ keys: [ENCRYPTION_KEY] });
  return applyConfiguration({ database, seal, pepper: PEPPER }, load(yaml, env), { isFile: true });
}

async function start(yaml: string, dataDir: string, env: Readonly<Record<string, string>> = {}): Promise<FirstStart> {
  const { isBootstrapped } = await apply(yaml, env);
  return firstStart({ database, pepper: PEPPER, dataDir, isEmbedded: false, isBootstrapped });
}

const newDataDir = () => mkdtempSync(join(folder, "data-"));
const slugs = async () =>
  (await database.db.selectFrom("workspaces").select("slug").orderBy("slug").execute()).map(({ slug }) => slug);
const keys = (role: "operator" | "member") =>
  database.db.selectFrom("api_keys").select("id").where("role", "=", role).execute();
async function settingsOfApp() {
  const app = await database.db
    .selectFrom("apps")
    .select("settings")
    .where("slug", "=", "default")
    .executeTakeFirstOrThrow();
  return app.settings as { readonly route: string; readonly audioInputOverride: string | null };
}

test("configuration.bootstrap, configuration.key-files: a file that only sets ports leaves the bootstrap on: an app's key, the operator's key, and what no provider means", async () => {
  const dataDir = newDataDir();
  const { isBootstrapped, notes } = await apply(PORTS);
  assert.equal(isBootstrapped, true);
  assert.match(notes.join("\n"), /No speech provider is connected/u);
  const first = await start(PORTS, dataDir);
  assert.ok(first.appKeys !== null && first.keyFile !== null && first.operatorKeyFile !== null);
  assert.equal(readFileSync(first.keyFile, "utf8").trim(), first.appKeys.appKey);
  for (const path of [first.keyFile, first.operatorKeyFile]) assert.equal(statSync(path).mode & 0o777, 0o600, path);
  assert.deepEqual([(await keys("operator")).length, (await keys("member")).length], [1, 2]);
  assert.deepEqual(await settingsOfApp().then(({ route, audioInputOverride }) => [route, audioInputOverride]), [
    "chat",
    "speech",
  ]);
  const second = await start(PORTS, dataDir);
  assert.deepEqual([second.appKeys, second.hasNewOperatorKey], [null, false]);
  assert.deepEqual([second.keyFile, second.operatorKeyFile], [first.keyFile, first.operatorKeyFile]);
});

test("configuration.bootstrap-every-start: such a file routes to the provider keys of the environment at every start, as a start without a file does", async () => {
  const dataDir = newDataDir();
  await start(PORTS, dataDir);
  await start(PORTS, dataDir, { DEEPGRAM_API_KEY: "a-credential-of-deepgram" });
  const kinds = await database.db.selectFrom("connections").select("id").execute();
  assert.ok(kinds.some(({ id }) => id === "deepgram"));
});

test("configuration.bootstrap: a file with connections or routes and no workspace gets the owner's app on its own routes", async () => {
  const connections = "connections: [{ id: sim, kind: sandbox }]\n";
  await start(
    `${connections}routes: [{ id: meetings, targets: [{ connection: sim, model: deepgram/nova-3 }] }]\n`,
    newDataDir(),
  );
  assert.equal((await settingsOfApp()).route, "meetings");
});

test("configuration.bootstrap-keeps-own: a route that a file listed is never replaced by one that a start derives: it becomes unmanaged once, as it was", async () => {
  const stored = () =>
    database.db
      .selectFrom("routes")
      .select(["managed_by", "latest_version"])
      .where("id", "=", "speech")
      .executeTakeFirstOrThrow();
  const own = `connections: [{ id: sim, kind: sandbox }]
routes: [{ id: speech, targets: [{ connection: sim, model: deepgram/nova-3 }] }]
`;
  await apply(PORTS);
  assert.deepEqual(await stored(), { managed_by: "bootstrap", latest_version: 1 });
  await apply(own);
  assert.deepEqual(await stored(), { managed_by: "file", latest_version: 2 });
  for (const yaml of [PORTS, "connections: [{ id: sim, kind: sandbox }]\n", PORTS]) {
    await apply(yaml);
    assert.deepEqual(await stored(), { managed_by: "api", latest_version: 2 });
  }
  const released = await database.db
    .selectFrom("audit_log")
    .select("object")
    .where("action", "=", "route.released")
    .execute();
  assert.deepEqual(released.map(({ object }) => object).toSorted(), ["chat", "speech"]);
});

test("configuration.bootstrap: a file with connections alone is routed to the models of these accounts", async () => {
  const configuration = load("connections: [{ id: dg, kind: deepgram, api_key: a-credential }]\n");
  const { routes, connections } = configuration.bootstrap ?? assert.fail("no bootstrap");
  assert.deepEqual(
    routes.map(({ id, targets }) => [id, targets.map(({ connection }) => connection)]),
    [["speech", ["dg"]]],
  );
  assert.deepEqual(
    connections.map(({ id }) => id),
    ["dg"],
  );
});

test("configuration.bootstrap-not, configuration.operator-key: a file with workspaces gets an operator's key where it names none, and nothing else", async () => {
  const dataDir = newDataDir();
  const yaml = `connections: [{ id: sim, kind: sandbox }]
routes: [{ id: speech, targets: [{ connection: sim, model: deepgram/nova-3 }] }]
workspaces: [{ id: acme, apps: [{ id: notes, route: speech }] }]
`;
  const first = await start(yaml, dataDir);
  assert.deepEqual([first.appKeys, first.keyFile, first.hasNewOperatorKey], [null, null, true]);
  assert.deepEqual(await slugs(), ["acme", "operator"]);
  assert.equal((await start(yaml, dataDir)).hasNewOperatorKey, false);
  const named = `${yaml}operator_keys: [{ id: root, secret: ${SECRET} }]\n`;
  assert.equal((await start(named, newDataDir())).hasNewOperatorKey, false);
});

test("configuration.operator-key: a configuration that names an operator's key gets no other one", async () => {
  const first = await start(`operator_keys: [{ id: root, secret: ${SECRET} }]\n`, newDataDir());
  assert.deepEqual([first.hasNewOperatorKey, first.operatorKeyFile], [false, null]);
  assert.equal((await keys("operator")).length, 1);
});

test("configuration.bootstrap-not: a database in which workspaces were created through the API is not bootstrapped", async () => {
  const row = { id: newId("workspace"), slug: "acme", plan: null, managed_by: "api" };
  await database.db.insertInto("workspaces").values(row).execute();
  const first = await start(PORTS, newDataDir());
  assert.deepEqual([first.appKeys, first.hasNewOperatorKey], [null, true]);
  assert.deepEqual(await slugs(), ["acme", "operator"]);
});

test("configuration.operator-key: an operator's key that was revoked or has expired counts as none", async () => {
  const dataDir = newDataDir();
  await start(PORTS, dataDir);
  await database.db.updateTable("api_keys").set({ revoked_at: new Date() }).where("role", "=", "operator").execute();
  assert.equal((await start(PORTS, dataDir)).hasNewOperatorKey, true);
});

test("configuration.one-bootstrap: of processes that start together on one server exactly one creates the keys, in its own data directory", async () => {
  const started = await Promise.all(Array.from({ length: 6 }, () => start(PORTS, newDataDir())));
  assert.equal(started.filter(({ appKeys }) => appKeys !== null).length, 1);
  assert.equal(started.filter(({ hasNewOperatorKey }) => hasNewOperatorKey).length, 1);
  assert.deepEqual([(await keys("operator")).length, (await keys("member")).length], [1, 2]);
});

test("configuration.one-bootstrap: a worker that applied the file before the first gateway does not keep that one from creating the keys", async () => {
  assert.equal((await apply(PORTS)).isBootstrapped, true);
  assert.notEqual((await start(PORTS, newDataDir())).appKeys, null);
});
