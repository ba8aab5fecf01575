// The receivers of examples/webhook-receivers, started as they are there and sent real signed deliveries [webhooks.receivers].
import assert from "node:assert/strict";
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { newId } from "../../src/contract/ids.ts";
import { signedRequest } from "../../src/webhooks/attempt.ts";
import { makeSecret, type SigningSecrets } from "../../src/webhooks/sign.ts";

const folder = join(import.meta.dirname, "../../examples/webhook-receivers");
const LANGUAGES = [
  { name: "Node", command: process.execPath, version: "--version", file: "receiver.mjs" },
  { name: "Python", command: "python3", version: "--version", file: "receiver.py" },
  { name: "Perl", command: "perl", version: "-v", file: "receiver.pl" },
  { name: "Java", command: "java", version: "--version", file: "Receiver.java" },
];

interface Receiver extends AsyncDisposable {
  post(request: { readonly headers: Readonly<Record<string, string>>; readonly body: string }): Promise<number>;
  /** The next line it prints. */
  line(): Promise<string>;
}

async function start(command: string, file: string, secret: string): Promise<Receiver> {
  const child: ChildProcess = spawn(command, [join(folder, file)], {
    env: { ...process.env, PATCHBAY_WEBHOOK_SECRET: secret, PORT: "0" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  assert(child.stdout !== null);
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const line = async () => String((await lines.next()).value);
  const port = Number(/^port ([0-9]+)$/.exec(await line())?.[1]);
  return {
    line,
    post: async ({ headers, body }) => {
      const response = await fetch(`http://127.0.0.1:${port}/hooks`, { method: "POST", headers, body });
      await response.arrayBuffer();
      return response.status;
    },
    async [Symbol.asyncDispose]() {
      const exited = once(child, "exit");
      child.kill("SIGKILL");
      await exited;
    },
  };
}

function delivery(secrets: SigningSecrets, nowMs = Date.now()) {
  const jobId = newId("job");
  const event = {
    type: "transcription.job.succeeded" as const,
    job_id: jobId,
    status: "succeeded" as const,
    occurred_at: new Date(nowMs).toISOString(),
  };
  return { jobId, ...signedRequest({ event, eventId: newId("event"), secrets, isTest: false }, nowMs) };
}

for (const { name, command, version, file } of LANGUAGES) {
  test(`webhooks.receivers: the receiver in ${name} accepts what is genuine, once, and nothing else`, async (t) => {
    if (spawnSync(command, [version]).status !== 0) return t.skip(`there is no ${command} on this machine`);
    const secret = makeSecret();
    await using receiver = await start(command, file, secret);
    const now = { current: secret, previous: null };
    const genuine = delivery(now);
    assert.equal(await receiver.post(genuine), 204);
    assert.equal(await receiver.post(genuine), 204, "again: an answer, and nothing done");
    const rotated = delivery({ current: makeSecret(), previous: secret });
    assert.equal(await receiver.post(rotated), 204, "still with the secret before the rotation");
    const stale = delivery(now, Date.now() - 310_000);
    const ahead = delivery(now, Date.now() + 70_000);
    const other = delivery({ current: makeSecret(), previous: null });
    const changed = { ...genuine, body: genuine.body.replace("succeeded", "cancelled") };
    const { "x-svc-webhook-signature": _signature, ...unsigned } = genuine.headers;
    const retimed = { ...genuine.headers, "x-svc-webhook-ts": String(Number(genuine.headers["x-svc-webhook-ts"]) + 1) };
    for (const [what, request] of Object.entries({
      stale,
      ahead,
      "another secret": other,
      "a changed body": changed,
      unsigned: { ...genuine, headers: unsigned },
      "a changed timestamp": { ...genuine, headers: retimed },
      "no timestamp": { ...genuine, headers: { ...genuine.headers, "x-svc-webhook-ts": "" } },
      "an empty signature": { ...genuine, headers: { ...genuine.headers, "x-svc-webhook-signature": "" } },
    }))
      assert.equal(await receiver.post(request), 400, what);
    const last = delivery(now);
    assert.equal(await receiver.post(last), 204);
    const printed = [await receiver.line(), await receiver.line(), await receiver.line()];
    for (const [index, { jobId }] of [genuine, rotated, last].entries())
      assert.ok(printed[index]?.includes(jobId), `${printed[index]} is not about ${jobId}`);
  });
}
