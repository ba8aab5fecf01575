// `patchbay doctor` [cli.doctor]: every check finds what it is there for, says how to fix it, and changes nothing.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { chmodSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer as createHttpServer } from "node:http";
import { createServer } from "node:net";
import { once } from "node:events";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { sql } from "kysely";
import type { Finding } from "../../src/operations/doctor/finding.ts";
import { CHECKS } from "../../src/operations/doctor/finding.ts";
import { checkRuntime } from "../../src/operations/doctor/check-files.ts";
import { checkRetirements } from "../../src/operations/doctor/check-retirements.ts";
import { checkRoutes } from "../../src/operations/doctor/check-routes.ts";
import { checkStorage } from "../../src/operations/doctor/check-storage.ts";
import { writeRunningGateway } from "../../src/config/running-gateway.ts";
import { LAST_RESORT } from "../../src/storage/embedded/account.ts";
import { answerJson, fakeGateway, run, type RunOptions } from "../cli/fake-gateway.ts";
import { openSystemDatabase, openTestDatabase, type TestDatabase } from "../harness/postgres/database.ts";
import { fillDataDir, makeTemporary, openEmbedded, postgresBin } from "../harness/postgres/embedded-data.ts";
import { createSeal } from "../../src/storage/secrets/seal.ts";
import { configurationOf, ENCRYPTION_KEY, standardFile, startGateway } from "../harness/gateway.ts";
import { writeSecrets } from "./installation.ts";

const folder = await makeTemporary("patchbay-doctor-");
after(() => rmSync(folder, { recursive: true, force: true }));
let database: TestDatabase;
before(async () => {
  database = await openTestDatabase();
});
after(() => database.close());

let count = 0;
/** An empty working directory, with a configuration when one is given. */
function place(yaml?: string): string {
  const cwd = join(folder, String((count += 1)));
  mkdirSync(cwd);
  if (yaml !== undefined) writeFileSync(join(cwd, "patchbay.yaml"), yaml);
  return cwd;
}

/** Looked at where there is a database to look into. */
const OF_A_DATABASE: ReadonlySet<Finding["check"]> = new Set([
  "migrations",
  "clock",
  "webhooks",
  "routes",
  "retirements",
]);

/** Of an installation with a database; PostgreSQL's programs are the same on every machine. */
const STORAGE = `storage: { postgres_bin: "${await postgresBin()}" }\n`;

/** An installation whose first start was made in this working directory, before any gateway. */
async function installed(cwd: string): Promise<string> {
  const dataDir = join(cwd, "data");
  mkdirSync(dataDir, { mode: 0o700 });
  chmodSync(cwd, 0o711);
  await fillDataDir(dataDir);
  writeSecrets(dataDir);
  return dataDir;
}

/** Closed ports, so that another gateway on this machine does not count. */
const PORTS = "server: { port: 0, admin: { port: 0 } }\n";

async function doctor(cwd: string, flags: readonly string[] = [], options: RunOptions = {}) {
  const ran = await run(["doctor", "--json", ...flags], { cwd, ...options });
  const document = JSON.parse(ran.stdout) as { readonly ok: boolean; readonly findings: readonly Finding[] };
  const of = (check: Finding["check"]) => document.findings.filter((finding) => finding.check === check);
  return { ...ran, ...document, of };
}

test("cli.doctor: a new machine has a line for every check, exit code 0, and is left as it was", async () => {
  const cwd = place(PORTS);
  const found = await doctor(cwd);
  assert.equal(found.exitCode, 0, found.stdout);
  assert.equal(found.ok, true);
  const always = CHECKS.filter((check) => !OF_A_DATABASE.has(check));
  assert.deepEqual([...new Set(found.findings.map(({ check }) => check))], always);
  assert.deepEqual(readdirSync(cwd), ["patchbay.yaml"]);
  const text = await run(["doctor"], { cwd });
  assert.match(text.stdout, /^ok {4}configuration {2}.*patchbay\.yaml$/mu);
  assert.match(text.stdout, /^warn {2}connections .*sandbox.*\n {21}fix: set a provider key/mu);
});

test("cli.doctor-model-life: with an account whose provider publishes when its models end, the daily question is recommended", async () => {
  const connections = "connections: [{ id: oa, kind: openai, api_key: k }]\n";
  const [advice] = (await doctor(place(PORTS + connections))).of("model_life");
  assert.deepEqual([advice?.level, /ask_providers_daily: true/u.test(advice?.fix ?? "")], ["warn", true]);
  const asking = place(`${PORTS}${connections}model_life: { ask_providers_daily: true }\n`);
  assert.deepEqual((await doctor(asking)).of("model_life")[0]?.level, "ok");
});

test("cli.doctor: faults of the configuration are listed with their place, and exit code 9", async () => {
  const found = await doctor(place("servr: {}\n"));
  assert.deepEqual([found.exitCode, found.ok], [9, false]);
  assert.match(found.of("configuration")[0]?.message ?? "", /patchbay\.yaml:1:1 servr: .*server/u);
});

test("cli.doctor: secrets that others may read are a warning, a missing one next to a database and a weak one fail", async () => {
  const cwd = place(PORTS + STORAGE);
  const data = await installed(cwd);
  rmSync(join(data, "encryption-key"));
  chmodSync(join(data, "key-pepper"), 0o644);
  const found = await doctor(cwd);
  assert.deepEqual(
    found.of("data_dir").map(({ level, fix }) => [level, fix]),
    [["warn", `chmod go= '${join(data, "key-pepper")}'`]],
  );
  assert.match(found.of("secrets")[0]?.fix ?? "", /restore it from the backup/u);
  assert.match(found.of("secrets")[0]?.message ?? "", /contains a database, but not encryption-key,/u);
  assert.equal(found.exitCode, 9);
  assert.ok(!readdirSync(data).includes("encryption-key"), "none is created");
  const weak = await doctor(
    place(`${PORTS}secrets: { key_pepper: "${"a".repeat(40)}", encryption_keys: ["short"] }\n`),
  );
  assert.deepEqual(
    weak.of("secrets").map(({ level, message }) => [level, message.split(":")[0]]),
    [
      ["fail", "secrets.encryption_keys[0]"],
      ["fail", "secrets.key_pepper"],
    ],
  );
  assert.doesNotMatch(weak.stdout, /aaaa|short/u);
});

test("cli.doctor: the ports of a data directory in use are the gateway's own", async () => {
  const taken = createServer().listen(0, "127.0.0.1");
  await once(taken, "listening");
  const address = taken.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const cwd = place(`server: { port: ${port}, admin: null }\n${STORAGE}`);
  try {
    assert.deepEqual(
      (await doctor(cwd)).of("ports").map(({ level }) => level),
      ["warn"],
    );
    const owner = await openEmbedded(await installed(cwd));
    const found = await doctor(cwd);
    await owner.close();
    assert.deepEqual(
      found.of("ports").map(({ level }) => level),
      ["ok"],
    );
  } finally {
    taken.close();
  }
});

test("cli.doctor: a healthy gateway on embedded storage is no warning; one that is not ready fails", async () => {
  let status = 200;
  const gateway = createHttpServer((request, response) =>
    response.writeHead(request.url === "/readyz" ? status : 404).end(),
  );
  gateway.listen(0, "127.0.0.1");
  await once(gateway, "listening");
  const address = gateway.address();
  const url = `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`;
  const cwd = place(`connections: [{ id: dg, kind: deepgram, api_key: a-credential }]\n${STORAGE}`);
  const dataDir = await installed(cwd);
  const owner = await openEmbedded(dataDir);
  try {
    const record = { url, adminUrl: null, overridden: { url: true, adminUrl: false }, isStopping: false };
    await writeRunningGateway(dataDir, record);
    const found = await doctor(cwd);
    const warned = found.findings.filter(
      ({ level, check, message }) =>
        level !== "ok" && check !== "decoder" && check !== "disk" && !message.includes(`runs as ${LAST_RESORT}`),
    );
    assert.deepEqual(warned, []);
    assert.match(
      found.of("ports")[0]?.message ?? "",
      new RegExp(`${new URL(url).host} is in use by the running gateway`, "u"),
    );
    const storage = found.of("storage").map(({ message }) => message);
    assert.match(storage[0] ?? "", /^embedded, PostgreSQL 18/u);
    assert.ok(storage.includes(`in use by process ${process.pid}, a ready gateway at ${url}`), storage.join());
    status = 503;
    const failed = (await doctor(cwd)).of("storage").find(({ level }) => level === "fail");
    assert.match(failed?.message ?? "", /not ready: \S+\/readyz answers 503/u);
    await writeRunningGateway(dataDir, { ...record, isStopping: true });
    const stopping = (await doctor(cwd)).of("storage").filter(({ message }) => message.includes("is stopping"));
    assert.deepEqual(
      stopping.map(({ level }) => level),
      ["warn"],
    );
  } finally {
    await owner.close();
    gateway.close();
    gateway.closeAllConnections();
  }
});

test("cli.doctor: an address that cannot be listened on, a public address that leads callers home, and credentials in the clear", async () => {
  const found = await doctor(
    place(`server: { host: 0.0.0.0, port: 0, admin: { host: 203.0.113.1, port: 9 } }
connections:
  - { id: plain, kind: openai, api_key: a-credential, base_url: "http://speech.example/v1" }
`),
  );
  assert.deepEqual(
    found.of("ports").map(({ level }) => level),
    ["ok", "fail"],
  );
  assert.match(found.of("ports")[1]?.message ?? "", /EADDRNOTAVAIL \(server\.admin\)/u);
  assert.equal(found.of("public_url")[0]?.level, "warn");
  assert.match(
    found.of("connections")[0]?.message ?? "",
    /^plain \(openai\) sends its credential to http:\/\/speech\.example/u,
  );
  assert.doesNotMatch(found.stdout, /a-credential/u);
  assert.equal(found.exitCode, 1);
});

test("cli.doctor-network: --call checks whether an address answers, without the credential; no provider is called otherwise", async () => {
  await using provider = await fakeGateway((response) => answerJson(response, 401, {}));
  const yaml = `${PORTS}connections:
  - { id: up, kind: deepgram, api_key: a-credential, base_url: "${provider.url}" }
  - { id: down, kind: deepgram, api_key: a-credential, base_url: "http://127.0.0.1:1" }
`;
  assert.deepEqual(
    (await doctor(place(yaml))).of("connections").map(({ level }) => level),
    ["ok", "ok"],
  );
  assert.equal(provider.received.length, 0);
  const called = await doctor(place(yaml), ["--call"]);
  assert.deepEqual(
    called.of("connections").map(({ level }) => level),
    ["ok", "fail"],
  );
  assert.match(called.of("connections")[0]?.message ?? "", /answers \(HTTP 401/u);
  assert.equal(provider.received.length, 1);
  assert.doesNotMatch(JSON.stringify(provider.received[0]?.headers), /a-credential/u);
});

test("cli.doctor: a runtime that is too old fails", () => {
  assert.equal(checkRuntime("24.14.9").level, "fail");
  assert.equal(checkRuntime("25.0.0").level, "ok");
});

test("cli.doctor: a server that does not answer, and one whose password must not be shown", async () => {
  const found = await doctor(
    place(`${PORTS}storage: { database_url: "postgres://someone:hush-the-password@127.0.0.1:1/none" }
secrets: { key_pepper: "a-pepper-that-is-long-enough-to-count", encryption_keys: ["${ENCRYPTION_KEY.toString("base64")}"] }
`),
  );
  assert.equal(found.of("storage")[0]?.level, "fail");
  assert.doesNotMatch(found.stdout, /hush-the-password/u);
  assert.equal(found.exitCode, 1);
});

test("cli.doctor-limits: a user who may not read the data directory gets that finding, and the rest is checked", {
  skip: process.getuid?.() === 0 ? "root may look everywhere" : false,
}, async () => {
  const cwd = place(PORTS);
  mkdirSync(join(cwd, "data"), { mode: 0o000 });
  const found = await doctor(cwd);
  assert.deepEqual([found.of("data_dir")[0]?.level, found.of("secrets")[0]?.level], ["fail", "fail"]);
  assert.match(found.of("secrets")[0]?.fix ?? "", /the user that runs patchbay/u);
  assert.equal(found.of("decoder").length, 1);
});

test("cli.doctor: the schema's migrations and the clock, of a database as it is", async () => {
  const dataDir = place();
  const configuration = await configurationOf(
    {
      storage: { database_url: database.direct.databaseUrl },
      secrets: {
        key_pepper: "a-pepper-that-is-long-enough-to-count",
        encryption_keys: [ENCRYPTION_KEY.toString("base64")],
      },
    },
    dataDir,
  );
  const look = async () =>
    Object.fromEntries((await checkStorage(configuration, { env: {} })).map((found) => [found.check, found]));
  const fine = await look();
  assert.deepEqual([fine["storage"]?.level, fine["migrations"]?.level, fine["clock"]?.level], ["ok", "ok", "ok"]);
  await sql`insert into kysely_migration (name, timestamp) values ('9999-of-the-future', 'x')`.execute(database.db);
  const newer = await look();
  assert.equal(newer["migrations"]?.level, "fail");
  assert.match(newer["migrations"].message, /newer version.*9999-of-the-future/u);
  await sql`delete from kysely_migration where name >= '0008'`.execute(database.db);
  const older = await look();
  assert.equal(older["migrations"]?.level, "warn");
});

test("cli.doctor-roles: a login that may not create roles is a warning with the statements for an administrator, and none once they ran", async (t) => {
  const suffix = randomBytes(6).toString("hex");
  const [owner, name] = [`login_${suffix}`, `patchbay_doctor_${suffix}`];
  await sql.raw(`create role ${owner} login password 'of-the-test'`).execute(database.db);
  await sql.raw(`create database ${name} owner ${owner}`).execute(database.db);
  t.after(() => sql.raw(`drop database ${name} with (force)`).execute(database.db));
  const url = new URL(database.direct.databaseUrl);
  const databaseUrl = Object.assign(url, { username: owner, password: "of-the-test", pathname: `/${name}` }).href;
  const configuration = await configurationOf(
    {
      storage: { database_url: databaseUrl },
      secrets: {
        key_pepper: "a-pepper-that-is-long-enough-to-count",
        encryption_keys: [ENCRYPTION_KEY.toString("base64")],
      },
    },
    place(),
  );
  const look = async () =>
    (await checkStorage(configuration, { env: {} })).filter(({ message }) => message.includes("CREATEROLE"));
  const before = await look();
  assert.deepEqual(
    before.map(({ check, level }) => [check, level]),
    [["storage", "warn"]],
    "before the first start, too",
  );
  await (await openSystemDatabase({ databaseUrl, poolSize: 1 })).close();
  const [finding] = await look();
  const [, statements = ""] = /restart the gateway: (.*)$/u.exec(finding?.fix ?? "") ?? [];
  assert.match(
    statements,
    new RegExp(`^create role patchbay_tenant_of_${owner} nologin; .*; grant .* to ${owner}$`, "u"),
  );
  for (const statement of statements.split("; ")) await sql.raw(statement).execute(database.db);
  assert.deepEqual(await look(), []);
});

test("cli.doctor, configuration.route-targets: a stored route with more targets than a route may have is a warning that names it", async () => {
  assert.deepEqual(
    (await checkRoutes(database.db)).map(({ level }) => level),
    ["ok"],
  );
  const targets = Array.from({ length: 21 }, () => ({ connection: "dg", model: "nova-3" }));
  await sql`insert into routes (scope, id, version, definition, managed_by)
    values ('', 'wide', 1, ${JSON.stringify({ targets })}::jsonb, 'api')`.execute(database.db);
  const [finding, ...others] = await checkRoutes(database.db);
  assert.equal(others.length, 0);
  assert.deepEqual([finding?.level, finding?.check], ["warn", "routes"]);
  assert.match(finding?.message ?? "", /route wide has 21 targets, more than the limit of 20/u);
});

test("retirement.doctor: losses within 90 days warn, within 7 days they fail, and each names a target that keeps the feature", async () => {
  const gateway = await startGateway({
    file: (sandbox) => ({
      ...standardFile(sandbox),
      routes: [
        {
          id: "speech",
          targets: [
            { connection: "oa", model: "gpt-4o-transcribe-diarize" },
            { connection: "oa", model: "gpt-transcribe" },
          ],
        },
      ],
    }),
  });
  try {
    const check = async (day: string) =>
      (await checkRetirements(gateway.database, createSeal({ keys: [ENCRYPTION_KEY] }), Date.parse(day))).filter(
        ({ message }) => !message.includes("timestamps.segment"),
      );
    const levels = async (day: string) => (await check(day)).map(({ level }) => level);
    assert.deepEqual(await levels("2026-11-01"), ["ok"]);
    assert.deepEqual(await levels("2026-11-28"), ["warn"]);
    assert.deepEqual(await levels("2027-02-18"), ["warn"]);
    assert.deepEqual(await levels("2027-02-19"), ["fail"]);
    const [past] = await check("2027-03-01");
    assert.deepEqual(past, {
      check: "retirements",
      level: "fail",
      message:
        "Since 2027-02-26 route `speech` cannot deliver diarization: its last capable target `oa/gpt-4o-transcribe-diarize` has ended",
      fix: "use dg/nova-3 in its place",
    });
  } finally {
    await gateway.close();
  }
});
