// The completion webhook over HTTP: set up, tested, redelivered, listened to, removed.
import assert from "node:assert/strict";
import { once } from "node:events";
import type { IncomingHttpHeaders } from "node:http";
import { PassThrough, Readable } from "node:stream";
import { test } from "node:test";
import { listen } from "../../../src/cli/use/listen.ts";
import { readEvents } from "../../../src/cli/use/read-events.ts";
import { deliveryList, deliveryView, listenDelivery, listenReady, webhookView } from "../../../src/contract/webhook.ts";
import { verifyWebhook } from "../../../src/webhooks/verify.ts";
import { speech } from "../../harness/client.ts";
import { httpServer, readAll } from "../../outbound/loopback.ts";
import { ADMIN, call, MEMBER, openWorld, OPERATOR, PATH, RECEIVER, type WebhookWorld } from "./workspace.ts";

test("webhooks.secret-shown-once, webhooks.redeliver, webhooks.log: configured, read, tested, listed, redelivered, deleted; the secret is in one answer and nowhere else", async (t) => {
  const world = await openWorld(t);
  const { gateway } = world;
  const answers: string[] = [];
  const ask = async (method: string, path: string, body?: unknown) => {
    const answer = await call(gateway, method, path, { body });
    answers.push(answer.text);
    return answer;
  };
  const made = await call(gateway, "PUT", PATH, { body: { url: RECEIVER, enabled: null } });
  assert.equal(made.status, 200, made.text);
  const { secret, ...shown } = webhookView.parse(made.json);
  assert(secret !== undefined);
  assert.deepEqual([shown.url, shown.enabled, shown.secret_last4], [RECEIVER, true, secret.slice(-4)]);

  assert.deepEqual(webhookView.parse((await ask("GET", PATH)).json), shown);

  const tested = await ask("POST", `${PATH}/test`);
  assert.equal(tested.status, 200, tested.text);
  const delivery = deliveryView.parse(tested.json);
  assert.deepEqual(
    [delivery.status, delivery.test, delivery.attempts.map(({ status_code: code, response }) => [code, response])],
    ["delivered", true, [[204, ""]]],
  );
  const [first] = world.received;
  assert(first !== undefined);
  assert.equal(first.url, "/hooks?token=of-the-owner");
  const verdict = verifyWebhook({ ...first, secret });
  assert(verdict.ok, JSON.stringify(verdict));
  assert.equal(first.headers["content-type"], "application/json");
  assert.equal(first.headers["accept-encoding"], "identity");

  const page = deliveryList.parse((await ask("GET", `${PATH}/deliveries?limit=1`)).json);
  assert.deepEqual(
    page.data.map(({ id }) => id),
    [delivery.id],
  );

  const again = world.next();
  const redelivered = await ask("POST", `${PATH}/deliveries/${delivery.id}/redeliver`);
  assert.equal(redelivered.status, 202, redelivered.text);
  assert.equal(deliveryView.parse(redelivered.json).status, "pending");
  const second = await again;
  assert.equal(second.headers["x-svc-webhook-id"], first.headers["x-svc-webhook-id"]);
  assert.deepEqual(second.body, first.body);

  const rotated = await call(gateway, "PUT", PATH, { body: { url: RECEIVER, rotate_secret: true } });
  const fresh = webhookView.parse(rotated.json).secret;
  assert(fresh !== undefined && fresh !== secret);
  assert.equal((await ask("DELETE", PATH)).status, 200);
  assert.equal((await ask("GET", PATH)).code, "NOT_FOUND");
  const everything = answers.join("\n") + gateway.logs.join("\n");
  for (const hidden of [secret, secret.slice(6), fresh, fresh.slice(6)]) assert.ok(!everything.includes(hidden));
  assert.ok(!gateway.logs.join("\n").includes("token=of-the-owner"), "nor is the receiver's address in the log");
});

test("webhooks.audit: the operator sets up any workspace's webhook, and the audit log names the key", async (t) => {
  const { gateway } = await openWorld(t);
  assert.equal((await call(gateway, "PUT", PATH, { key: OPERATOR, body: { url: RECEIVER } })).status, 200);
  assert.equal((await call(gateway, "GET", PATH, { key: ADMIN })).status, 200);
  const audits = await gateway.database.db
    .selectFrom("audit_log")
    .innerJoin("api_keys", "api_keys.id", "audit_log.actor_key_id")
    .select(["audit_log.action", "api_keys.role"])
    .where("audit_log.action", "like", "stt_webhook.%")
    .execute();
  assert.deepEqual(audits, [{ action: "stt_webhook.configured", role: "operator" }]);
});

/** Submits a recording as a member of the workspace and answers the job's id. */
async function submitJob({ gateway }: WebhookWorld): Promise<string> {
  const form = new FormData();
  form.append("file", new Blob([new Uint8Array(speech())]), "speech.wav");
  const response = await fetch(`${gateway.origin}/v1/transcription/jobs`, {
    method: "POST",
    headers: { authorization: `Bearer ${MEMBER}` },
    body: form,
  });
  const answer = (await response.json()) as { job_id: string };
  assert.equal(response.status, 202, JSON.stringify(answer));
  return answer.job_id;
}

/** One that has ended. */
async function endJob(world: WebhookWorld): Promise<string> {
  const jobId = await submitJob(world);
  const response = await fetch(`${world.gateway.origin}/v1/transcription/jobs/${jobId}?wait=30`, {
    headers: { authorization: `Bearer ${MEMBER}` },
  });
  const job = (await response.json()) as { status: string };
  assert.equal(job.status, "succeeded", JSON.stringify(job));
  return jobId;
}

test("webhooks.payload, webhooks.event-per-end: a job that ends is announced, once and signed, without its transcript", async (t) => {
  const world = await openWorld(t);
  const { secret } = webhookView.parse((await call(world.gateway, "PUT", PATH, { body: { url: RECEIVER } })).json);
  assert(secret !== undefined);
  const arrived = world.next();
  const jobId = await submitJob(world);
  const verdict = verifyWebhook({ ...(await arrived), secret });
  assert(verdict.ok, JSON.stringify(verdict));
  assert.deepEqual(
    [verdict.event.type, verdict.event.job_id, verdict.event.status],
    ["transcription.job.succeeded", jobId, "succeeded"],
  );
  const stored = await world.gateway.database.db
    .selectFrom("webhook_events")
    .select(["id", "occurred_at"])
    .where("job_id", "=", jobId)
    .execute();
  assert.deepEqual(
    stored.map(({ id, occurred_at: at }) => [id, at.toISOString()]),
    [[verdict.id, verdict.event.occurred_at]],
  );
  await endJob(world);
  assert.equal(new Set(world.received.map(({ headers }) => headers["x-svc-webhook-id"])).size, world.received.length);
});

async function openStream({ gateway }: WebhookWorld, query = "") {
  const hangUp = new AbortController();
  const response = await fetch(`${gateway.origin}${PATH}/stream${query}`, {
    headers: { authorization: `Bearer ${ADMIN}` },
    signal: hangUp.signal,
  });
  assert.equal(response.status, 200);
  assert(response.body !== null);
  const events = readEvents(response.body);
  return {
    next: async () => (await events.next()).value as { name: string; data: unknown } | undefined,
    close: () => hangUp.abort(),
  };
}

test("webhooks.listen, webhooks.listen-secret: the stream sends every event as a delivery would, signed by the webhook's secret or its own", async (t) => {
  const world = await openWorld(t);
  await endJob(world);
  const stream = await openStream(world);
  const ready = listenReady.parse((await stream.next())?.data);
  assert(ready.secret !== null, "there is no webhook: the stream brings its own secret");
  const jobId = await endJob(world);
  const event = await stream.next();
  assert.equal(event?.name, "delivery");
  const delivery = listenDelivery.parse(event.data);
  const verdict = verifyWebhook({ ...delivery, secret: ready.secret });
  assert(verdict.ok && verdict.event.job_id === jobId, "what had ended before is not delivered");
  stream.close();

  const { secret } = webhookView.parse((await call(world.gateway, "PUT", PATH, { body: { url: RECEIVER } })).json);
  assert(secret !== undefined);
  const [second, third] = [await endJob(world), await endJob(world)];
  const later = await openStream(world, `?after=${delivery.id}`);
  assert.equal(listenReady.parse((await later.next())?.data).secret, null);
  const jobs = new Set<string>();
  while (!jobs.has(second) || !jobs.has(third)) {
    const { data } = (await later.next()) ?? {};
    const verified = verifyWebhook({ ...listenDelivery.parse(data), secret });
    assert(verified.ok);
    jobs.add(verified.event.job_id);
  }
  assert.ok(!jobs.has(jobId), "the last one seen does not come again");
  later.close();
});

test("webhooks.stream-end: HEAD on the stream returns its head and ends, although the stream has no end", async (t) => {
  const { gateway } = await openWorld(t);
  const response = await fetch(`${gateway.origin}${PATH}/stream`, {
    method: "HEAD",
    headers: { authorization: `Bearer ${ADMIN}` },
  });
  assert.equal(response.status, 200);
  assert.equal(response.headers.get("content-type"), "text/event-stream; charset=utf-8");
  assert.equal(await response.text(), "");
});

test("webhooks.listen: patchbay listen delivers a job's event to a receiver on this machine", async (t) => {
  const world = await openWorld(t);
  const arrived = Promise.withResolvers<{ headers: IncomingHttpHeaders; body: Buffer }>();
  const local = await httpServer(t, async (request, response) => {
    arrived.resolve({ headers: request.headers, body: await readAll(request) });
    response.writeHead(204).end();
  });
  const { secret } = webhookView.parse((await call(world.gateway, "PUT", PATH, { body: { url: RECEIVER } })).json);
  assert(secret !== undefined);
  const stop = new AbortController();
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const terminal = { stdin: Readable.from([]), stdout, stderr, env: {}, cwd: world.gateway.dataDir };
  const options = { forwardTo: local.href, url: world.gateway.origin, apiKey: ADMIN };
  const listening = listen(options, terminal, stop.signal);
  await once(stderr, "data");
  const jobId = await endJob(world);
  const verdict = verifyWebhook({ ...(await arrived.promise), secret });
  assert(verdict.ok && verdict.event.job_id === jobId, JSON.stringify(verdict));
  assert.ok(String((await once(stdout, "data"))[0]).includes(`${jobId}  204  `));
  stop.abort();
  await assert.rejects(listening);
});

test("webhooks.private-receivers: where the operator allows it, a receiver may be private and use http, and nothing else may", async (t) => {
  const world = await openWorld(t, { allow_http: true, allowed_private_cidrs: ["10.1.0.0/16"] });
  const own = await httpServer(t, (_request, response) => void response.writeHead(204).end());
  world.internet.name("own.example", ["10.1.2.3"]);
  world.internet.server("10.1.2.3", own);
  world.internet.name("neighbour.example", ["10.2.0.1"]);
  const put = (url: string) => call(world.gateway, "PUT", PATH, { body: { url } });
  for (const url of ["http://neighbour.example/", "http://10.2.0.1/", "http://169.254.169.254/", "http://127.0.0.1/"])
    assert.equal((await put(url)).code, "INVALID_REQUEST", url);
  assert.equal((await put("http://own.example:9000/hooks")).status, 200);
  const tested = deliveryView.parse((await call(world.gateway, "POST", `${PATH}/test`)).json);
  assert.equal(tested.status, "delivered");
  assert.deepEqual(
    world.internet.dialled.map(({ address, port, tlsName }) => [address, port, tlsName]),
    [["10.1.2.3", 9_000, null]],
  );
});

test("webhooks.stream-end: a stream ends when the gateway begins to stop", async (t) => {
  const world = await openWorld(t);
  const stream = await openStream(world);
  await stream.next();
  world.gateway.app.startDraining();
  assert.equal(await stream.next(), undefined);
});
