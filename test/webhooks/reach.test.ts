// What `patchbay doctor` learns of a receiver [webhooks.doctor]: the guard, the resolver's answer and the connector of deliveries,
// with real sockets, over which nothing is sent.
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { doctorNetwork } from "../../src/compose/outbound.ts";
import { createOutbound } from "../../src/outbound/dial.ts";
import type { Resolve } from "../../src/outbound/guard.ts";
import { systemConnector } from "../../src/outbound/system-network.ts";
import { webhookPolicy } from "../../src/outbound/url-policy.ts";
import { createReceivers } from "../../src/webhooks/receivers.ts";
import { httpServer, httpsServer, refusingUrl, socketServer, TLS } from "../outbound/loopback.ts";
import { soon } from "../outbound/soon.ts";

const OPENED = { allowHttp: true, allowedPrivateCidrs: ["127.0.0.0/8"] };

interface Conditions {
  readonly webhooks?: typeof OPENED;
  readonly resolve?: Resolve;
  /** Short only where nothing answers: a busy machine may need any time to open a connection. */
  readonly connectTimeoutMs?: number;
}

function reachFrom(
  t: TestContext,
  { webhooks = OPENED, resolve = async () => ["127.0.0.1"], connectTimeoutMs = 600_000 }: Conditions = {},
) {
  const outbound = createOutbound({ guard: { resolve, connect: systemConnector({ ca: TLS.ca }), connectTimeoutMs } });
  const network = doctorNetwork(outbound, { webhooks });
  t.after(() => network.close());
  return (url: string, signal: AbortSignal = new AbortController().signal) => network.reach(url, signal);
}

test("webhooks.doctor: a receiver is connected to, its certificate is checked, and not a byte is sent to it", async (t) => {
  const closed = Promise.withResolvers<number>();
  const plain = await socketServer(t, (socket) => {
    let bytes = 0;
    socket.on("data", (chunk: Buffer) => void (bytes += chunk.length));
    socket.on("close", () => closed.resolve(bytes));
  });
  const reach = reachFrom(t);
  assert.deepEqual(await reach(`http://hooks.example:${plain.port}/token`), { kind: "reached" });
  assert.equal(await soon(closed.promise), 0);
  const requests: unknown[] = [];
  const secure = await httpsServer(t, (request, response) => {
    requests.push(request.url);
    response.end();
  });
  assert.deepEqual(await reach(`https://${TLS.host}:${secure.port}/token`), { kind: "reached" });
  assert.deepEqual(requests, []);
  assert.deepEqual(await reach(`https://other.example:${secure.port}/token`), {
    kind: "tls",
    detail: "ERR_TLS_CERT_ALTNAME_INVALID",
  });
});

test("webhooks.doctor: refused, silent, blocked and unknown receivers are reported differently, with the system's own message", async (t) => {
  const reach = reachFrom(t);
  assert.deepEqual(await reach(`http://hooks.example:${(await refusingUrl()).port}/`), {
    kind: "connection",
    detail: "ECONNREFUSED",
  });
  const silent = await socketServer(t, (socket) => socket.resume());
  const impatient = reachFrom(t, { connectTimeoutMs: 60 });
  assert.deepEqual(await impatient(`https://hooks.example:${silent.port}/`), { kind: "timeout", detail: null });
  const here = await httpServer(t, () => assert.fail("it was called"));
  const strict = reachFrom(t, { webhooks: { allowHttp: false, allowedPrivateCidrs: [] } });
  assert.deepEqual(await strict(`https://hooks.example:${here.port}/`), {
    kind: "address_not_allowed",
    detail: "loopback 127.0.0.1",
  });
  assert.deepEqual(await strict(`http://hooks.example:${here.port}/`), {
    kind: "address_not_allowed",
    detail: "scheme http:",
  });
  const unknown = reachFrom(t, { resolve: () => Promise.reject(new Error("queryA ENOTFOUND hooks.example")) });
  assert.deepEqual(await unknown("https://hooks.example/"), {
    kind: "not_resolved",
    detail: "not resolved: queryA ENOTFOUND hooks.example",
  });
});

test("webhooks.local-receiver-hint: the refusal of a receiver on the caller's own machine names `patchbay listen`, http or https", async () => {
  const outbound = createOutbound({
    guard: { resolve: async () => ["127.0.0.1"], connect: () => assert.fail("it was dialled") },
  });
  const receivers = createReceivers(outbound, webhookPolicy({ allowHttp: false, allowedPrivateCidrs: [] }));
  for (const url of ["http://localhost:3000/hook", "https://localhost:3000/hook"])
    assert.match((await receivers.refusal(url)) ?? "", /on your own machine use `patchbay listen`/u, url);
  await outbound.close();
});

test("webhooks.doctor-time: one receiver does not extend the time that was set for all of them", async (t) => {
  const stop = new AbortController();
  const reason = new Error("enough");
  const silent = await socketServer(t, (socket) => socket.once("data", () => stop.abort(reason)));
  await assert.rejects(soon(reachFrom(t)(`https://hooks.example:${silent.port}/`, stop.signal)), reason);
});
