// Two gateway processes behind a PgBouncer that pools transactions (docs/decisions/0032-transaction-poolers.md).
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { type Sandbox, startSandbox } from "../../sandbox/server.ts";
import { submitUpload, waitForJob } from "../../bench/jobs/job-api.ts";
import { askKeyed } from "../faults/keyed-requests.ts";
import { oneApp } from "../faults/one-app.ts";
import { createPatchbayProcess, type PatchbayProcess } from "../faults/jobs/patchbay-process.ts";
import { startBeatClock } from "../harness/beat-clock.ts";
import { speech } from "../harness/client.ts";
import { openTestDatabase, type TestDatabase } from "../harness/postgres/database.ts";
import { ENCRYPTION_KEY, KEY, PEPPER } from "../harness/gateway.ts";
import { findPgBouncer, PGBOUNCER_MISSING, type PgBouncer, startPgBouncer } from "../harness/postgres/pgbouncer.ts";

const ADMIN = "admin-key-behind-the-pooler-01";
const [LOOPS, REQUESTS] = [8, 12];
const REVOKED_WITHIN_MS = 5_000;

const program = findPgBouncer();
const opened = new AsyncDisposableStack();
let database: TestDatabase;
let sandbox: Sandbox;
let bouncer: PgBouncer;
let folder: string;
before(async () => {
  database = await openTestDatabase();
  opened.defer(() => database.close());
  if (program === null) return;
  bouncer = opened.use(await startPgBouncer(program, database.direct.databaseUrl, { mode: "transaction" }));
  sandbox = await startSandbox();
  opened.defer(() => sandbox.close());
  folder = await mkdtemp(join(tmpdir(), "patchbay-pooled-"));
  opened.defer(() => rm(folder, { recursive: true, force: true }));
});
after(() => opened.disposeAsync());

async function gateway(name: string, listenUrl: string | null): Promise<PatchbayProcess> {
  const file = oneApp(sandbox, KEY);
  const configFile = join(folder, `${name}.yaml`);
  await writeFile(
    configFile,
    JSON.stringify({
      ...file,
      workspaces: file.workspaces?.map((each) => ({ ...each, admin_keys: [{ id: "admin", secret: ADMIN }] })),
      webhooks: { allow_http: true, allowed_private_cidrs: ["127.0.0.0/8"] },
      server: { host: "127.0.0.1", port: 0, admin: null },
      storage: {
        database_url: bouncer.url,
        ...(listenUrl === null ? {} : { listen_url: listenUrl }),
        data_dir: join(folder, "data"),
      },
      secrets: { key_pepper: PEPPER.toString("base64"), encryption_keys: [ENCRYPTION_KEY.toString("base64")] },
    }),
  );
  const process = createPatchbayProcess({ name, command: "up", configFile, folder });
  opened.defer(() => process.kill());
  return process;
}

async function ask(origin: string, method: string, path: string, body?: object): Promise<Record<string, unknown>> {
  const response = await fetch(`${origin}/workspace/acme${path}`, {
    method,
    headers: { authorization: `Bearer ${ADMIN}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  assert.ok(response.ok, `${method} ${path}: ${response.status} ${text}`);
  return text === "" ? {} : (JSON.parse(text) as Record<string, unknown>);
}

const statusFor = async (origin: string, secret: string): Promise<number> => {
  const response = await fetch(`${origin}/v1/me`, { headers: { authorization: `Bearer ${secret}` } });
  await response.text();
  return response.status;
};

test("storage.pooler-parity: two gateways behind a transaction pooler: keyed requests, jobs, a webhook and a revocation work, without an error", {
  skip: program === null ? PGBOUNCER_MISSING : false,
}, async (t) => {
  const { direct } = database;
  const refused = await gateway("without", null);
  await assert.rejects(refused.start(), /transaction pooler[^]*set storage\.listen_url/u);

  const gateways = [await gateway("one", direct.databaseUrl), await gateway("two", direct.databaseUrl)];
  for (const each of gateways) await each.start();
  const [one = "", two = ""] = gateways.map(({ origin }) => origin ?? "");

  const events: string[] = [];
  const receiver = createServer((request, response) => {
    request.setEncoding("utf8").on("data", (text: string) => events.push(text));
    request.on("end", () => response.writeHead(204).end());
  }).listen(0, "127.0.0.1");
  await once(receiver, "listening");
  opened.defer(() => void receiver.close());
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hooks`;
  await ask(one, "PUT", "/stt-webhook", { url });

  // Each key twice, once at either gateway: paid once, answered alike.
  const loops = Array.from({ length: LOOPS }, async (_, loop) => {
    for (let request = 0; request < REQUESTS; request += 1) {
      const name = `key-${loop}-${request}`;
      const [first, second] = [await askKeyed(one, { name, secret: KEY }), await askKeyed(two, { name, secret: KEY })];
      assert.deepEqual([first.status, second.status], [200, 200], `${first.text} ${second.text}`);
      assert.equal(first.text, second.text);
    }
  });
  const jobs = [one, two].map(async (origin, index) => {
    const jobId = await submitUpload(origin, KEY, speech());
    const job = await waitForJob(index === 0 ? two : one, KEY, jobId);
    assert.equal(job.status, "succeeded");
    return jobId;
  });
  await Promise.all(loops);
  const ended = await Promise.all(jobs);
  for (const jobId of ended) while (!events.some((event) => event.includes(jobId))) await once(receiver, "request");
  const called = sandbox.calls.filter(({ query }) => query.some(([field]) => field === "keyterm"));
  assert.equal(called.length, LOOPS * REQUESTS);

  const made = await ask(one, "POST", "/keys", { name: "short-lived", app: "notes", scopes: ["transcribe"] });
  const secret = String(made["secret"]);
  assert.deepEqual([await statusFor(one, secret), await statusFor(two, secret)], [200, 200]);
  await ask(one, "DELETE", `/keys/${String(made["id"])}`);
  using clock = startBeatClock();
  while ((await statusFor(two, secret)) === 200) assert.ok(clock.elapsedMs() < REVOKED_WITHIN_MS);
  t.diagnostic(`revoked at the other gateway after ${clock.elapsedMs()} ms`);
  // Each waits for connections that are kept open: together.
  await Promise.all(gateways.map((each) => each.terminate()));
});
