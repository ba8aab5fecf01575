// How a command finds the running gateway [cli.gateway-address]: flag, environment, configuration, then the address in its data directory.
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, beforeEach, test } from "node:test";
import { adminUrl, gatewayUrl } from "../../src/cli/gateway-url.ts";
import {
  readRunningGateway,
  removeRunningGateway,
  RUNNING_FILE,
  writeRunningGateway,
} from "../../src/config/running-gateway.ts";

const folder = mkdtempSync(join(tmpdir(), "patchbay-gateway-url-"));
after(() => rmSync(folder, { recursive: true, force: true }));

let cwd: string;
let dataDir: string;
beforeEach(() => {
  cwd = mkdtempSync(join(folder, "here-"));
  dataDir = join(cwd, "data");
  mkdirSync(dataDir);
});

const RUNNING = {
  url: "http://127.0.0.1:18080",
  adminUrl: "http://127.0.0.1:18081",
  overridden: { url: false, adminUrl: false },
  isStopping: false,
};
const configure = (text: string, name = "patchbay.yaml") => writeFileSync(join(cwd, name), text);
const found = (env: Readonly<Record<string, string>> = {}) => [
  gatewayUrl(undefined, { env, cwd }).origin,
  adminUrl(undefined, { env, cwd }),
];
const at = (port: number, adminPort: number) => [`http://127.0.0.1:${port}`, `http://127.0.0.1:${adminPort}`];

test("cli.gateway-address: without any of the four it is the default address", () => {
  assert.deepEqual(found(), at(8080, 8081));
});

test("cli.gateway-address: the address in the data directory is used if the configuration names no port", async () => {
  await writeRunningGateway(dataDir, RUNNING);
  assert.deepEqual(found(), at(18_080, 18_081));
  configure("server: { port: 0 }\n");
  assert.deepEqual(found(), at(18_080, 18_081));
  await removeRunningGateway(dataDir);
  assert.deepEqual(found(), at(8080, 8081));
});

test("cli.gateway-address: the data directory is that of the configuration, also of the one in PATCHBAY_CONFIG", async () => {
  const elsewhere = join(cwd, "elsewhere");
  mkdirSync(elsewhere);
  await writeRunningGateway(elsewhere, RUNNING);
  configure('storage: { data_dir: "${env:PLACE:-./elsewhere}" }\n', "other.yaml");
  assert.deepEqual(found(), at(8080, 8081));
  assert.deepEqual(found({ PATCHBAY_CONFIG: "other.yaml" }), at(18_080, 18_081));
});

test("cli.gateway-address: flag, then environment, then configuration, then the data directory", async () => {
  await writeRunningGateway(dataDir, RUNNING);
  configure('server: { host: 0.0.0.0, port: "${env:PORT:-9000}", admin: { port: 9001 } }\n');
  assert.deepEqual(found(), at(9000, 9001));
  const env = { PATCHBAY_URL: "http://127.0.0.1:7000", PATCHBAY_ADMIN_URL: "http://127.0.0.1:7001/" };
  assert.deepEqual(found(env), at(7000, 7001));
  assert.equal(gatewayUrl("http://127.0.0.1:6000", { env, cwd }).origin, "http://127.0.0.1:6000");
  assert.equal(adminUrl("http://127.0.0.1:6001", { env, cwd }), "http://127.0.0.1:6001");
});

test("cli.gateway-address: a gateway started with --port is found there, whatever port the configuration names", async () => {
  configure("server: { port: 9000, admin: { port: 9001 } }\n");
  await writeRunningGateway(dataDir, { ...RUNNING, overridden: { url: true, adminUrl: false } });
  assert.deepEqual(found(), at(18_080, 9001));
});

test("cli.stale-record: the record of a process that has ended, and one that cannot be read, count as none", async () => {
  await writeRunningGateway(dataDir, RUNNING);
  const path = join(dataDir, RUNNING_FILE);
  for (const text of [
    JSON.stringify({ pid: process.pid, start: "another boot/1", url: RUNNING.url }),
    JSON.stringify({ pid: 2 ** 22, start: "unknown", url: RUNNING.url }),
    "{",
    "null",
    "",
  ]) {
    writeFileSync(path, text);
    assert.equal(readRunningGateway(dataDir), null, text);
    assert.deepEqual(found(), at(8080, 8081));
  }
});

test("cli.broken-configuration: a configuration with faults elsewhere still says where its gateway listens", () => {
  configure("server: { port: 9000 }\nroutes: nonsense\n");
  assert.equal(found()[0], "http://127.0.0.1:9000");
  configure("server: { port: [\n");
  assert.deepEqual(found(), at(8080, 8081));
});
