// `patchbay alerts test|secret`, the faults of destinations in the configuration, and what the doctor says about them.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { after, before, test } from "node:test";
import { alertDestinations } from "../../src/alerts/destinations.ts";
import { raiseAlerts } from "../../src/alerts/raise.ts";
import { deliverAlerts } from "../../src/alerts/deliver.ts";
import { doctorNetwork, openOutbound } from "../../src/compose/outbound.ts";
import { loadConfiguration } from "../../src/config/load-configuration.ts";
import type { ConfigurationFile } from "../../src/config/schema/file.ts";
import {
  checkAlertDeliveries,
  checkAlertsConfigured,
  checkDestinations,
} from "../../src/operations/doctor/check-alerts.ts";
import { run } from "../cli/fake-gateway.ts";
import { configurationOf, PEPPER } from "../harness/gateway.ts";
import { openTestDatabase, type TestDatabase } from "../harness/postgres/database.ts";
import { makeTemporary } from "../harness/postgres/embedded-data.ts";
import { writeSecrets } from "../operations/installation.ts";
import { pretendInternet } from "../outbound/pretend-internet.ts";
import { alertsOf, anAlert, openWorld, OPERATOR_URL, startReceiver } from "./world.ts";

const folder = await makeTemporary("patchbay-alerts-command-");
after(() => rmSync(folder, { recursive: true, force: true }));
let database: TestDatabase;
before(async () => {
  database = await openTestDatabase();
});
after(() => database.close());

const ACME_URL = "https://acme.example/alerts?token=of-acme";
const FILE: ConfigurationFile = {
  alerts: [{ url: OPERATOR_URL }],
  workspaces: [{ id: "acme", alerts: [{ url: ACME_URL, events: ["jobs_failing"] }] }],
};

let count = 0;
/** A working directory with a configuration and the secrets of an installation. */
function place(file: object): string {
  const cwd = join(folder, String((count += 1)));
  mkdirSync(join(cwd, "data"), { recursive: true });
  writeFileSync(join(cwd, "patchbay.yaml"), JSON.stringify(file));
  writeSecrets(join(cwd, "data"));
  return cwd;
}

test("alerts.test-command: a test alert goes to each destination, signed and marked, and the exit code says whether all accepted it", async (t) => {
  const internet = pretendInternet();
  const operator = await startReceiver(t, internet, "operator.example");
  const acme = await startReceiver(t, internet, "acme.example");
  const cwd = place(FILE);
  const configuration = await configurationOf(FILE, folder);
  const testAll = async (...flags: readonly string[]) => {
    const outbound = openOutbound({ configuration, network: internet });
    return run(["alerts", "test", ...flags], { cwd, network: doctorNetwork(outbound, configuration) });
  };
  const first = await testAll();
  assert.equal(first.exitCode, 0, first.stderr);
  assert.match(first.stdout, /^alerts\[0\] +https:\/\/operator\.example +delivered +HTTP 200, \d+ ms/mu);
  assert.match(first.stdout, /^acme: alerts\[0\] +https:\/\/acme\.example +delivered/mu);
  const [forOperator, forAcme] = alertDestinations(configuration, PEPPER).map(({ secret }) => secret);
  const [sent] = alertsOf(operator, forOperator ?? "");
  assert.deepEqual([sent?.event, sent?.cause, sent?.workspace], ["test", "test", null]);
  assert.equal(alertsOf(acme, forAcme ?? "")[0]?.workspace, "acme");
  assert.equal(operator.received[0]?.headers["x-svc-webhook-test"], "true");

  acme.status(403);
  const second = await testAll("--json");
  assert.equal(second.exitCode, 7);
  const { data } = JSON.parse(second.stdout) as { readonly data: readonly Record<string, unknown>[] };
  assert.deepEqual(
    data.map(({ destination, workspace, origin, outcome, status_code: status }) => [
      destination,
      workspace,
      origin,
      outcome,
      status,
    ]),
    [
      ["alerts[0]", null, "https://operator.example", "delivered", 200],
      ["acme: alerts[0]", "acme", "https://acme.example", "http_status", 403],
    ],
  );
  for (const { stdout, stderr } of [first, second])
    for (const hidden of [forOperator ?? "", forAcme ?? "", "token-of-the-operator", "of-acme"])
      assert.ok(!`${stdout}${stderr}`.includes(hidden), "neither secrets nor tokens are printed");

  internet.name("acme.example", ["169.254.169.254"]);
  const third = await testAll();
  assert.equal(third.exitCode, 7);
  assert.match(third.stdout, /acme: alerts\[0\] +https:\/\/acme\.example +address not allowed +-/u);
});

test("alerts.test-command: without a destination the command says so, exit code 4", async () => {
  const ran = await run(["alerts", "test"], { cwd: place({}) });
  assert.equal(ran.exitCode, 4);
  assert.match(ran.stderr, /No destination of alerts is configured.*\n.*docs\/reference\/alerts\.md/u);
});

test("alerts.test-command: before the first start no secret is created, and destinations with their own are tested", async (t) => {
  const internet = pretendInternet();
  await startReceiver(t, internet, "operator.example");
  const ran = async (file: ConfigurationFile) => {
    const cwd = place(file);
    rmSync(join(cwd, "data"), { recursive: true });
    const configuration = await configurationOf(file, folder);
    const network = doctorNetwork(openOutbound({ configuration, network: internet }), configuration);
    const { exitCode, stderr } = await run(["alerts", "test"], { cwd, network });
    await network.close();
    return { exitCode, stderr, isCreated: existsSync(join(cwd, "data")) };
  };
  const secret = `whsec_${PEPPER.toString("base64")}`;
  assert.deepEqual(await ran({ alerts: [{ url: OPERATOR_URL, secret }] }), {
    exitCode: 0,
    stderr: "",
    isCreated: false,
  });
  const derived = await ran({ alerts: [{ url: OPERATOR_URL }] });
  assert.deepEqual([derived.exitCode, derived.isCreated], [4, false]);
  assert.match(derived.stderr, /patchbay up/u);
});

test("alerts.signature: `patchbay webhooks verify` verifies an alert as it was received", async (t) => {
  const world = await openWorld(t, database, { alerts: [{ url: OPERATOR_URL }] });
  const receiver = await startReceiver(t, world.internet, "operator.example");
  await raiseAlerts(world.services, [anAlert({ cause: "disk_low/verified/data_dir" })]);
  await deliverAlerts(world.services);
  const [received] = receiver.received;
  assert.ok(received !== undefined);
  const names = ["x-svc-webhook-ts", "x-svc-webhook-signature"];
  const headers = names.flatMap((name) => ["-H", `${name}: ${String(received.headers[name])}`]);
  const verify = (secret: string) =>
    run(["webhooks", "verify", ...headers, "--secret", secret], { cwd: folder, stdin: Readable.from([received.body]) });
  const [destination] = world.services.destinations;
  const valid = await verify(destination?.secret ?? "");
  assert.deepEqual(
    [valid.exitCode, valid.stdout.split("  ").slice(0, 2)],
    [0, ["OK: disk_low", "disk_low/verified/data_dir"]],
  );
  assert.equal((await verify(`whsec_${PEPPER.toString("base64")}`)).exitCode, 1);
});

test("alerts.secret: a derived secret is printed alone, differs for each destination and address, and a configured one is not printed", async () => {
  const cwd = place(FILE);
  const own = await run(["alerts", "secret"], { cwd });
  const [operator, acme] = alertDestinations(await configurationOf(FILE, folder), PEPPER);
  assert.deepEqual([own.exitCode, own.stdout], [0, `${operator?.secret}\n`]);
  const ofAcme = await run(["alerts", "secret", ACME_URL, "--workspace", "acme"], { cwd });
  assert.equal(ofAcme.stdout, `${acme?.secret}\n`);
  assert.notEqual(operator?.secret, acme?.secret);
  const moved = alertDestinations(await configurationOf({ alerts: [{ url: `${OPERATOR_URL}2` }] }, folder), PEPPER);
  assert.notEqual(moved[0]?.secret, operator?.secret);
  const secret = `whsec_${PEPPER.toString("base64")}`;
  const configured = await run(["alerts", "secret"], { cwd: place({ alerts: [{ url: OPERATOR_URL, secret }] }) });
  assert.equal(configured.exitCode, 5);
  assert.ok(!`${configured.stdout}${configured.stderr}`.includes(secret));
});

test("alerts.configuration: faults of a destination name the field, and neither address nor secret are printed", async () => {
  const cwd = place({
    alerts: [
      { url: "http://operator.example/token-of-the-operator" },
      { url: "ftp://operator.example" },
      { url: OPERATOR_URL, events: ["disk_full"], secret: "too-short-a-secret" },
      { url: OPERATOR_URL },
    ],
    workspaces: [{ id: "acme", alerts: [{ url: ACME_URL, events: ["disk_low"] }] }],
  });
  const loaded = loadConfiguration({ file: null, env: {}, cwd });
  assert.ok(!loaded.ok);
  assert.deepEqual(
    loaded.faults.map(({ path }) => path),
    [
      "alerts[0].url",
      "alerts[1].url",
      "alerts[2].events[0]",
      "alerts[2].secret",
      "alerts[3].url",
      "workspaces[0].alerts[0].events[0]",
    ].toSorted(),
  );
  const printed = await run(["config", "print"], { cwd: place(FILE) });
  assert.ok(!/token-of-the-operator|of-acme/u.test(printed.stdout), printed.stdout);
  assert.match(printed.stdout, /https:\/\/operator\.example\/\*\*\*\*/u);
});

test("alerts.doctor: without a destination the doctor recommends one; it connects to each, and reports one that does not accept alerts", async (t) => {
  const world = await openWorld(t, database, { alerts: [{ url: OPERATOR_URL }] });
  const receiver = await startReceiver(t, world.internet, "operator.example");
  const configuration = await configurationOf({ alerts: [{ url: OPERATOR_URL }] }, folder);
  assert.deepEqual(
    checkAlertsConfigured(await configurationOf({}, folder)).map(({ level, message }) => [level, message.slice(0, 29)]),
    [["ok", "none configured. Recommended:"]],
  );
  assert.deepEqual(checkAlertsConfigured(configuration), []);
  const outbound = openOutbound({ configuration, network: world.internet });
  t.after(() => outbound.destroy());
  const reach = async () => {
    const found = await checkDestinations(configuration, doctorNetwork(outbound, configuration));
    return found.map(({ level, message }) => [level, message]);
  };
  assert.deepEqual(await reach(), [
    ["ok", "alerts[0] (https://operator.example) accepts connections; nothing was sent"],
  ]);
  assert.equal(receiver.received.length, 0);
  receiver.status(404);
  await raiseAlerts(world.services, [anAlert()]);
  await deliverAlerts(world.services);
  const failing = await checkAlertDeliveries(database.db, configuration);
  assert.deepEqual(
    failing.map(({ level, message }) => [level, message]),
    [
      [
        "warn",
        "alerts[0] (https://operator.example) did not accept the last alert (HTTP 404): 1 waiting, 0 given up in seven days",
      ],
    ],
  );
  world.internet.name("operator.example", ["10.0.0.7"]);
  assert.equal((await reach())[0]?.[0], "fail");
});
