// `patchbay up --processes N` as an operator starts it: real processes on one port and one PostgreSQL.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer as createHttpServer } from "node:http";
import { type AddressInfo, createServer } from "node:net";
import { mkdtemp, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { EXIT } from "../../src/cli/exit-codes.ts";
import type { ConfigurationFile } from "../../src/config/schema/file.ts";
import { selfCheck } from "../../src/start/self-check.ts";
import { markMoved } from "../../src/storage/connection/moved-database.ts";
import { openTestDatabase, type TestDatabase } from "../harness/postgres/database.ts";
import { makeTemporary } from "../harness/postgres/embedded-data.ts";
import {
  answering,
  childrenOf,
  configuration as configurationOn,
  ENCRYPTION_KEY,
  PEPPER,
  SAMPLE,
  startCommand,
  transcribe,
  twoFreePorts,
} from "./commands.ts";

let database: TestDatabase;
let folder: string;

before(async () => {
  database = await openTestDatabase();
  folder = await makeTemporary("patchbay-processes-");
});
after(async () => {
  await database.close();
  await rm(folder, { recursive: true, force: true });
});

test("configuration.processes: gateways next to each other: both serve, one that is killed is replaced while the other answers, a stop ends all", async () => {
  const adminPort = await twoFreePorts();
  const gateway = await start(configuration(database.direct.databaseUrl, adminPort), "up", "--processes", "2");
  const origin = await gateway.said(/listening\s+(http:\S+)/u);
  const [first, second] = [adminPort, adminPort + 1].map((port) => `http://127.0.0.1:${port}/readyz`);
  assert.ok(first !== undefined && second !== undefined);
  await answering(first);
  await answering(second);
  assert.equal(await transcribe(origin), 200);

  const children = await childrenOf(gateway.process);
  assert.equal(children.length, 2);
  process.kill(children[1] ?? 0, "SIGKILL");
  await gateway.said(/process (2) ended/u);
  assert.equal(await transcribe(origin), 200);
  await answering(second);

  gateway.process.kill("SIGINT");
  assert.deepEqual(await once(gateway.process, "exit"), [EXIT.ok, null]);
  await assert.rejects(fetch(first));
  await assert.rejects(fetch(second));
});

test("tenancy.rotate-needed, tenancy.rotate-known: next to a running gateway a first encryption key that it does not know is refused before listening, exit 9", async () => {
  const file = configuration(database.direct.databaseUrl, 0);
  const gateway = await start(file, "up");
  const origin = await gateway.said(/listening\s+(http:\S+)/u);
  await gateway.said(/admin\s+http:\S+ \((operator's keys only)/u);
  const ring = [randomBytes(32).toString("base64"), ENCRYPTION_KEY];
  for (const command of [["up"], ["up", "--processes", "2"], ["worker"]]) {
    const other = await start({ ...file, secrets: { key_pepper: PEPPER, encryption_keys: ring } }, ...command);
    const said = await other.said(/^([^]*could not open what it seals)/u);
    assert.doesNotMatch(said, /listening|working/u);
    assert.deepEqual(await once(other.process, "exit"), [EXIT.config, null]);
  }
  assert.equal(await transcribe(origin), 200);
  gateway.process.kill("SIGINT");
  assert.deepEqual(await once(gateway.process, "exit"), [EXIT.ok, null]);
});

test("configuration.stop-signals: a gateway or worker that gets SIGTERM as soon as it reports what it does ends in order", async () => {
  for (const [command, first] of [
    ["up", /(listening)/u],
    ["worker", /(working)/u],
  ] as const) {
    const started = await start(configuration(database.direct.databaseUrl, 0), command);
    await started.said(first);
    started.process.kill("SIGINT");
    assert.deepEqual(await once(started.process, "exit"), [EXIT.ok, null], command);
  }
});

test("configuration.self-check: a self-check without an answer, or with an unreadable one, is reported and ends nothing", async () => {
  const keys = { appKey: "a key", selfCheckKey: "a test key" };
  const server = createHttpServer((_request, response) => response.writeHead(502).end("<html>"));
  const address = await new Promise<string>((resolve) => {
    server.listen(0, "127.0.0.1", () => resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
  });
  assert.match((await selfCheck(address, SAMPLE, keys)).result, /^FAILED: /u);
  server.closeAllConnections();
  server.close();
  await once(server, "close");
  assert.match((await selfCheck(address, SAMPLE, keys)).result, /^FAILED: /u);
});

test("storage.data-dir, configuration.start-report: a start whose data directory cannot be created ends with the place and the reason, exit 9", {
  skip: process.platform === "linux" ? false : "a file system that takes no directories is /proc",
}, async () => {
  const gateway = await start({ ...configuration(null, 0), storage: { data_dir: "/proc/patchbay/data" } }, "up");
  await gateway.said(
    /patchbay\.yaml: (storage\.data_dir: \/proc\/patchbay\/data cannot be created: \/proc does not accept directories)/u,
  );
  assert.deepEqual(await once(gateway.process, "exit"), [EXIT.config, null]);
});

test("storage.data-dir: a start that creates its data directory where even its parent was missing names the topmost one", async () => {
  const missing = join(folder, "not-mounted");
  // It continues to a database that is not there: only its output before that counts.
  const storage = { data_dir: join(missing, "patchbay"), database_url: "postgres://unknown@127.0.0.1:1/none" };
  const gateway = await start({ ...configuration(null, 0), storage }, "up");
  const said = await gateway.said(/data dir\s+(.*)/u);
  assert.equal(said, `${join(missing, "patchbay")}, created together with ${missing}`);
  await once(gateway.process, "exit");
});

test("configuration.start-report: a start that fails half way prints why and what to do, and ends the process, so that another can start", async () => {
  await using taken = createServer();
  taken.listen(0, "127.0.0.1");
  await once(taken, "listening");
  const { port } = taken.address() as AddressInfo;
  const file = configuration(database.direct.databaseUrl, port);
  const noAdmin = await start(file, "up");
  await noAdmin.said(new RegExp(`(127\\.0\\.0\\.1:${port} is in use)[^]*--admin-port`, "u"));
  assert.deepEqual(await once(noAdmin.process, "exit"), [EXIT.config, null]);
  const noPublic = await start(configuration(database.direct.databaseUrl, 0), "up", "--port", String(port));
  await noPublic.said(new RegExp(`(127\\.0\\.0\\.1:${port} is in use)[^]*--port`, "u"));
  assert.deepEqual(await once(noPublic.process, "exit"), [EXIT.config, null]);
});

test("configuration.ports-first: a start whose ports are in use names all of them, and what to change, before it creates anything", async () => {
  await using taken = createServer();
  taken.listen(0, "127.0.0.1");
  await once(taken, "listening");
  await using takenToo = createServer();
  takenToo.listen(0, "127.0.0.1");
  await once(takenToo, "listening");
  const [port, adminPort] = [taken, takenToo].map((server) => (server.address() as AddressInfo).port);
  const dataDir = join(folder, "never-created");
  // Each process has an admin port of its own, which another program may have.
  const others = "(?: 127\\.0\\.0\\.1:\\d+ is in use by another process\\.)*";
  for (const processes of ["1", "2"]) {
    const file = { ...configuration(null, adminPort ?? 0), storage: { data_dir: dataDir } };
    const refused = await start(file, "up", "--port", String(port), "--processes", processes);
    const said = await refused.said(/^([^]*doctor\n)/u);
    assert.match(
      said,
      new RegExp(
        `127\\.0\\.0\\.1:${port} is in use by another process\\. 127\\.0\\.0\\.1:${adminPort} is in use by another process\\.${others}\n.*choose other ports: .* up --port N --admin-port M\n`,
        "u",
      ),
    );
    assert.doesNotMatch(said, /data dir|storage|secrets/u);
    assert.deepEqual(await once(refused.process, "exit"), [EXIT.config, null]);
    await assert.rejects(stat(dataDir), { code: "ENOENT" });
  }
});

test("storage.moved-marker: an embedded database that was moved to a server starts no gateway, and says where it was moved, exit 9", async () => {
  const dataDir = await mkdtemp(join(folder, "moved-"));
  await markMoved(dataDir, "postgres://user:hush-hush@db.example:5433/speech", new Date(0));
  const file = { ...configuration(null, 0), storage: { data_dir: dataDir } };
  const gateway = await start(file, "up");
  const said = await gateway.said(/error ([^]*moved-to-server\.json\n)/u);
  assert.match(said, /was moved to db\.example:5433\/speech at 1970-01-01T[^]*DATABASE_URL/u);
  assert.doesNotMatch(said, /hush/u);
  assert.deepEqual(await once(gateway.process, "exit"), [EXIT.config, null]);
});

test("storage.server-unreachable: a start whose PostgreSQL server is unavailable names it without its password, says what to check, and ends with 7", async () => {
  const file = configuration("postgres://unknown:hush-hush@127.0.0.1:1/none", 0);
  for (const command of [["up"], ["up", "--processes", "2"], ["worker"]]) {
    const gateway = await start(file, ...command);
    const said = await gateway.said(/error ([^]*no firewall is between\n)/u);
    assert.match(said, /^The PostgreSQL server at 127\.0\.0\.1:1 cannot be reached: nothing listens there/u);
    assert.doesNotMatch(said, /hush/u);
    assert.deepEqual(await once(gateway.process, "exit"), [EXIT.upstream, null]);
  }
});

test("configuration.worker-listener: a worker shows its health and figures and nothing else; where the port is taken it works without, unless asked for it", async () => {
  const { databaseUrl } = database.direct;
  const file = (port: number) => configuration(databaseUrl, port);
  const worker = await start(file(0), "worker");
  const origin = await worker.said(/metrics\s+(http:\S+)\/metrics/u);
  await answering(`${origin}/healthz`);
  await answering(`${origin}/readyz`);
  assert.match(await (await fetch(`${origin}/metrics`)).text(), /^svc_build_info\{/mu);
  assert.equal((await fetch(`${origin}/admin/v1/workspaces`)).status, 404);

  const { port } = new URL(origin);
  const second = await start(file(Number(port)), "worker");
  await second.said(/nowhere: (\S+ is in use)/u);
  await second.said(/(working)/u);
  const third = await start(file(0), "worker", "--admin-port", port);
  assert.deepEqual(await once(third.process, "exit"), [EXIT.config, null]);
  for (const { process: child } of [worker, second]) {
    child.kill("SIGTERM");
    assert.deepEqual(await once(child, "exit"), [EXIT.ok, null]);
  }
});

function configuration(databaseUrl: string | null, adminPort: number): ConfigurationFile {
  return configurationOn(
    { data_dir: folder, ...(databaseUrl === null ? {} : { database_url: databaseUrl }) },
    adminPort,
  );
}

function start(file: ConfigurationFile, ...command: readonly string[]): ReturnType<typeof startCommand> {
  return startCommand(folder, file, ...command);
}
