// `patchbay doctor` and the network [cli.doctor-network]: names of providers, receivers of webhooks. Nothing is sent to either.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import type { Configuration } from "../../src/config/configuration.ts";
import type { ConfigurationFile } from "../../src/config/schema/file.ts";
import { checkNames } from "../../src/operations/doctor/check-names.ts";
import { checkWebhooks } from "../../src/operations/doctor/check-webhooks.ts";
import type { Finding } from "../../src/operations/doctor/finding.ts";
import { sealSecret } from "../../src/storage/secrets/data-keys.ts";
import { createSeal } from "../../src/storage/secrets/seal.ts";
import { webhookSecretPlace } from "../../src/storage/secrets/secret-places.ts";
import type { ReachOutcome } from "../../src/webhooks/receivers.ts";
import { run, type RunOptions } from "../cli/fake-gateway.ts";
import { makeTenant, openTestDatabase, type TestDatabase } from "../harness/postgres/database.ts";
import { fillDataDir, makeTemporary, openEmbedded, postgresBin } from "../harness/postgres/embedded-data.ts";
import { configurationOf } from "../harness/gateway.ts";

const folder = await makeTemporary("patchbay-doctor-network-");
after(() => rmSync(folder, { recursive: true, force: true }));
let database: TestDatabase;
before(async () => {
  database = await openTestDatabase();
});
after(() => database.close());

const ring = createSeal({ keys: [randomBytes(32)] });

function connectionsOf(connections: NonNullable<ConfigurationFile["connections"]>): Promise<Configuration> {
  return configurationOf({ connections }, folder);
}

const LOCAL_MODEL = { whisper: { capabilities: ["audio_input" as const] } };

test("cli.doctor-network: a provider's name that no name server knows is reported with its connections; each name is resolved once", async () => {
  const configuration = await connectionsOf([
    { id: "dg", kind: "deepgram", api_key: "a-credential", base_url: "https://speech.example" },
    { id: "dg2", kind: "deepgram", api_key: "a-credential", base_url: "https://speech.example/" },
    { id: "oa", kind: "openai", api_key: "a-credential", base_url: "https://mispelt.example/v1" },
  ]);
  const asked: string[] = [];
  const found = await checkNames(configuration, {
    lookUp: async (host) => {
      asked.push(host);
      if (host === "mispelt.example") throw new Error("getaddrinfo ENOTFOUND mispelt.example");
      return ["203.0.113.7", "2001:db8::7"];
    },
  });
  assert.deepEqual(asked, ["speech.example", "mispelt.example"]);
  assert.deepEqual(
    found.map(({ check, level, message }) => [check, level, message]),
    [
      ["dns", "ok", "speech.example has 2 addresses (dg, dg2)"],
      ["dns", "fail", "mispelt.example cannot be resolved: getaddrinfo ENOTFOUND mispelt.example (oa)"],
    ],
  );
  assert.match(found[1]?.fix ?? "", /base_url.*name servers/u);
});

test("cli.doctor-network: the names of the sandbox and of this machine, and addresses, are not resolved", async () => {
  const local = (id: string, baseUrl: string) => ({
    id,
    kind: "openai-compatible" as const,
    base_url: baseUrl,
    models: LOCAL_MODEL,
  });
  const configuration = await connectionsOf([
    { id: "sim", kind: "sandbox" },
    local("four", "http://10.0.0.5:8000/v1"),
    local("six", "http://[fd00::5]:8000/v1"),
    local("here", "http://localhost:8000/v1"),
    // As a URL has it, this is 127.0.0.1.
    local("odd", "http://0x7f.1/v1"),
  ]);
  const found = await checkNames(configuration, { lookUp: () => assert.fail("a name server was asked") });
  assert.deepEqual(
    found.map(({ level, message }) => [level, message]),
    [["ok", "no provider host needs to be resolved"]],
  );
});

test("cli.doctor-network: a name server that does not answer is not waited for longer than five seconds", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const configuration = await connectionsOf([
    { id: "dg", kind: "deepgram", api_key: "a-credential", base_url: "https://speech.example" },
  ]);
  const looking = checkNames(configuration, { lookUp: () => new Promise(() => undefined) });
  t.mock.timers.tick(5_000);
  const [found] = await looking;
  assert.equal(found?.level, "fail");
  assert.match(found.message, /speech\.example cannot be resolved: no answer within 5 s \(dg\)/u);
});

/** A workspace's webhook as its own API leaves it. */
async function addWebhook(
  at: Pick<TestDatabase, "db" | "transaction">,
  seal: ReturnType<typeof createSeal>,
  url: string,
  disabled: "gone" | "failing" | null = null,
): Promise<string> {
  const { workspaceId } = await makeTenant(at);
  await at.transaction(async (tx) => {
    const sealed = (field: "sealed_url" | "secret", text: string) =>
      sealSecret(tx, seal, webhookSecretPlace(workspaceId, field), text);
    await tx
      .insertInto("webhooks")
      .values({
        workspace_id: workspaceId,
        sealed_url: await sealed("sealed_url", url),
        secret: await sealed("secret", "whsec_of_unknown"),
        secret_last4: "body",
        enabled: true,
      })
      .execute();
    if (disabled !== null)
      await tx
        .updateTable("webhooks")
        .set({ enabled: false, disabled_reason: disabled, disabled_at: new Date() })
        .where("workspace_id", "=", workspaceId)
        .execute();
  });
  return workspaceId;
}

async function emptied(): Promise<TestDatabase["db"]> {
  await database.db.deleteFrom("webhooks").execute();
  return database.db;
}

test("cli.doctor-network, webhooks.doctor: each receiver is connected to, and each way to fail has its own words and its own fix", async () => {
  const db = await emptied();
  const outcomes: readonly (readonly [string, ReachOutcome, Finding["level"], RegExp, RegExp])[] = [
    ["https://up.example/token-a", { kind: "reached" }, "ok", /accepts connections; nothing was sent/u, /^$/u],
    [
      "https://gone.example/token-b",
      { kind: "not_resolved", detail: "not resolved: queryA ENOTFOUND gone.example" },
      "fail",
      /the name is not resolved: queryA ENOTFOUND/u,
      /name servers.*patchbay webhooks set/u,
    ],
    [
      "https://inside.example/token-c",
      { kind: "address_not_allowed", detail: "private 10.0.0.5" },
      "fail",
      /is not allowed as a receiver \(private 10\.0\.0\.5\)/u,
      /webhooks\.allowed_private_cidrs/u,
    ],
    [
      "https://down.example/token-d",
      { kind: "connection", detail: "ECONNREFUSED" },
      "fail",
      /does not accept connections \(ECONNREFUSED\)/u,
      /start the receiver/u,
    ],
    ["https://mute.example/token-e", { kind: "timeout", detail: null }, "fail", /not respond in time/u, /firewall/u],
    [
      "https://old.example/token-f",
      { kind: "tls", detail: "CERT_HAS_EXPIRED" },
      "fail",
      /TLS fails \(CERT_HAS_EXPIRED\)/u,
      /certificate.*NODE_EXTRA_CA_CERTS/u,
    ],
  ];
  const workspaces: string[] = [];
  for (const [url] of outcomes) workspaces.push(await addWebhook(database, ring, url));
  const found = await checkWebhooks(db, ring, {
    reach: async (url) => outcomes.find(([each]) => each === url)?.[1] ?? assert.fail(url),
  });
  for (const [index, [url, , level, message, fix]] of outcomes.entries()) {
    const { origin } = new URL(url);
    const finding = found.find((each) => each.message.startsWith(`${workspaces[index]}: ${origin}`));
    assert.ok(finding !== undefined, origin);
    assert.equal(finding.level, level, origin);
    assert.match(finding.message, message);
    assert.match(finding.fix ?? "", fix);
  }
  assert.equal(found.length, outcomes.length);
  assert.doesNotMatch(JSON.stringify(found), /token-/u);
});

test("webhooks.doctor: a webhook that its owner disabled is not connected to; one that the gateway disabled is a warning", async () => {
  const db = await emptied();
  assert.deepEqual(await checkWebhooks(db, ring, { reach: () => assert.fail("there is none") }), [
    { check: "webhooks", level: "ok", message: "none configured", fix: null },
  ]);
  await addWebhook(database, ring, "https://gone.example/", "gone");
  await addWebhook(database, ring, "https://failing.example/", "failing");
  const found = await checkWebhooks(db, ring, { reach: () => assert.fail("a switched off receiver was dialled") });
  assert.deepEqual(new Set(found.map(({ level }) => level)), new Set(["warn"]));
  const findings = JSON.stringify(found);
  assert.match(findings, /410 Gone/u);
  assert.match(findings, /days of failures only/u);
});

test("cli.doctor-limits, webhooks.doctor-time: receivers that take all the time leave the others named as not reached", async () => {
  const db = await emptied();
  const workspaceId = await addWebhook(database, ring, "https://mute.example/");
  const found = await checkWebhooks(
    db,
    ring,
    {
      reach: (_url, signal) =>
        new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(new Error("aborted")))),
    },
    10,
  );
  assert.deepEqual(
    found.map(({ level, message }) => [level, message]),
    [["warn", `not checked within 0.01 s: ${workspaceId}`]],
  );
});

test("cli.doctor-limits: addresses sealed under a key that is gone are one finding, and the other checks run", async () => {
  const db = await emptied();
  await addWebhook(database, ring, "https://up.example/");
  const [found] = await checkWebhooks(db, createSeal({ keys: [randomBytes(32)] }), { reach: () => assert.fail() });
  assert.equal(found?.level, "fail");
  assert.match(found.fix ?? "", /secrets\.encryption_keys/u);
});

test("cli.doctor-network: the command joins both in its document and its exit code", async () => {
  const dataDir = join(folder, "data");
  mkdirSync(dataDir, { mode: 0o700 });
  await fillDataDir(dataDir);
  const key = randomBytes(32);
  const own = await openEmbedded(dataDir);
  const workspaceId = await addWebhook(own, createSeal({ keys: [key] }), "https://hooks.example/token");
  await own.close();
  const file: ConfigurationFile = {
    server: { port: 0, admin: { port: 0 } },
    storage: { data_dir: dataDir, postgres_bin: await postgresBin() },
    secrets: { key_pepper: randomBytes(32).toString("base64"), encryption_keys: [key.toString("base64")] },
    connections: [{ id: "dg", kind: "deepgram", api_key: "a-credential", base_url: "https://speech.example" }],
  };
  writeFileSync(join(folder, "patchbay.yaml"), JSON.stringify(file));
  const doctor = async (network: RunOptions["network"]) => {
    const ran = await run(["doctor", "--json"], { cwd: folder, ...(network === undefined ? {} : { network }) });
    const { findings } = JSON.parse(ran.stdout) as { readonly findings: readonly Finding[] };
    const of = (check: Finding["check"]) => findings.filter((each) => each.check === check).map(({ level }) => level);
    return { exitCode: ran.exitCode, dns: of("dns"), webhooks: of("webhooks"), stdout: ran.stdout };
  };
  const fine = await doctor(undefined);
  assert.deepEqual([fine.exitCode, fine.dns, fine.webhooks], [0, ["ok"], ["ok"]], fine.stdout);
  assert.match(fine.stdout, new RegExp(`${workspaceId}: https://hooks\\.example accepts connections`, "u"));
  const cut = await doctor({
    lookUp: () => Promise.reject(new Error("getaddrinfo EAI_AGAIN speech.example")),
    reach: async () => ({ kind: "timeout", detail: null }),
  });
  assert.deepEqual([cut.exitCode, cut.dns, cut.webhooks], [1, ["fail"], ["fail"]], cut.stdout);
  assert.doesNotMatch(cut.stdout, /token/u);
});
