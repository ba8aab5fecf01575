// The real connector behind the real guard, with real TLS on loopback: the name's certificate is required from the vetted address,
// whatever the environment says.
import assert from "node:assert/strict";
import { getEventListeners, once } from "node:events";
import type { AddressInfo } from "node:net";
import { type TestContext, test } from "node:test";
import { createServer, type TLSSocket } from "node:tls";
import { ConnectFailure, createOutbound, GuardRefusal } from "../../src/outbound/dial.ts";
import { ownAddresses, systemConnector, systemResolver } from "../../src/outbound/system-network.ts";
import { webhookPolicy } from "../../src/outbound/url-policy.ts";
import { canaryPort } from "../harness/canary.ts";
import { httpServer, refusingUrl, socketServer, TLS } from "./loopback.ts";
import { soon } from "./soon.ts";

const HOST = TLS.host;
/** Loopback opened, so that real servers can be vetted. */
const POLICY = webhookPolicy({ allowHttp: true, allowedPrivateCidrs: ["127.0.0.0/8"] });

async function tlsServer(t: TestContext) {
  const names: unknown[] = [];
  /** As the client's hello had them: of an address there is none. */
  const hellos: string[] = [];
  const server = createServer(
    {
      cert: TLS.cert,
      key: TLS.key,
      SNICallback: (name, done) => {
        hellos.push(name);
        done(null);
      },
    },
    (socket: TLSSocket) => {
      names.push(socket.servername);
      socket.on("error", () => {});
      socket.once("data", () => socket.end("HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n"));
    },
  );
  server.on("tlsClientError", () => {});
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.close());
  return { port: (server.address() as AddressInfo).port, names, hellos };
}

function outboundFor(t: TestContext, options: { readonly ca?: string; readonly connectTimeoutMs?: number } = {}) {
  const { connectTimeoutMs, ...connector } = options;
  const outbound = createOutbound({
    guard: {
      resolve: async () => ["127.0.0.1"],
      connect: systemConnector(connector),
      ...(connectTimeoutMs === undefined ? {} : { connectTimeoutMs }),
    },
  });
  t.after(() => outbound.destroy());
  return (url: string) => outbound.exchange({ trust: "caller", method: "GET", url, policy: POLICY, headers: {} });
}

async function stageOf(exchange: Promise<unknown>): Promise<string> {
  const error = await exchange.catch((thrown: unknown) => thrown);
  assert.ok(error instanceof ConnectFailure, String(error));
  return error.stage;
}

test("remote-audio.tls: the vetted address is dialled, with the name in SNI and its certificate required", async (t) => {
  const { port, names, hellos } = await tlsServer(t);
  const get = outboundFor(t, { ca: TLS.ca });
  assert.equal((await get(`https://${HOST}:${port}/`)).status, 204);
  assert.deepEqual(names, [HOST]);
  assert.equal(await stageOf(get(`https://other.example:${port}/`)), "tls");
  // A literal's certificate would have to name the address.
  assert.equal(await stageOf(get(`https://127.0.0.1:${port}/`)), "tls");
  assert.deepEqual(hellos, [HOST, "other.example"]);
});

test("remote-audio.tls: a certificate of an unknown authority is refused, whatever NODE_TLS_REJECT_UNAUTHORIZED says", async (t) => {
  const { port } = await tlsServer(t);
  const get = outboundFor(t);
  assert.equal(await stageOf(get(`https://${HOST}:${port}/`)), "tls");
  process.env["NODE_TLS_REJECT_UNAUTHORIZED"] = "0";
  t.after(() => delete process.env["NODE_TLS_REJECT_UNAUTHORIZED"]);
  assert.equal(await stageOf(get(`https://${HOST}:${port}/`)), "tls");
});

test("remote-audio.tls: SSRF-324, proxies that the environment names are not used", async (t) => {
  let asked = 0;
  const proxy = await socketServer(t, () => asked++);
  const names = ["HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY", "https_proxy", "http_proxy", "NODE_USE_ENV_PROXY"];
  for (const name of names) process.env[name] = name === "NODE_USE_ENV_PROXY" ? "1" : proxy.href;
  t.after(() => {
    for (const name of names) delete process.env[name];
  });
  const { port } = await tlsServer(t);
  assert.equal((await outboundFor(t, { ca: TLS.ca })(`https://${HOST}:${port}/`)).status, 204);
  const plain = await httpServer(t, (_request, response) => void response.writeHead(204).end());
  assert.equal((await outboundFor(t)(`http://${HOST}:${plain.port}/`)).status, 204);
  assert.equal(asked, 0);
});

test("remote-audio.connect-timeout: SSRF-331, a handshake that stalls counts into the connect deadline; a refused connection is reported as something else", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const closed = Promise.withResolvers<void>();
  const silent = await socketServer(t, (socket) => {
    // The hello of the handshake.
    socket.once("data", () => t.mock.timers.tick(60));
    socket.on("close", () => closed.resolve());
  });
  const get = outboundFor(t, { connectTimeoutMs: 60 });
  assert.equal(await stageOf(get(`https://${HOST}:${silent.port}/`)), "timeout");
  await soon(closed.promise);
  assert.equal(await stageOf(get(`https://${HOST}:${(await refusingUrl()).port}/`)), "connect");
});

test("remote-audio.hang-up: nothing is dialled for a caller that gave up, and an abort ends the handshake", async (t) => {
  const arrived = Promise.withResolvers<void>();
  const closed = Promise.withResolvers<void>();
  const silent = await socketServer(t, (socket) => {
    // The hello of the handshake, which gets no answer.
    socket.once("data", () => arrived.resolve());
    socket.on("close", () => closed.resolve());
  });
  const connect = systemConnector();
  const target = { address: "127.0.0.1", port: Number(silent.port), tlsName: HOST };
  assert.equal(await stageOf(soon(connect({ ...target, tlsName: null }, AbortSignal.abort()))), "connect");
  const stop = new AbortController();
  const connecting = stageOf(soon(connect(target, stop.signal)));
  await soon(arrived.promise);
  stop.abort();
  assert.equal(await connecting, "tls");
  await soon(closed.promise);
});

test("remote-audio.connect-timeout: an established connection is not cut by the deadline or signal of its opening", async (t) => {
  const silent = await socketServer(t, (socket) => void socket.resume());
  const stop = new AbortController();
  const target = { address: "127.0.0.1", port: Number(silent.port), tlsName: null };
  const { socket } = await soon(systemConnector()(target, stop.signal));
  t.after(() => socket.destroy());
  assert.equal(getEventListeners(stop.signal, "abort").length, 0);
  stop.abort();
  assert.equal(socket.destroyed, false);
});

test("remote-audio.name-not-address: SSRF-317, SSRF-322, literals and loopback names are judged before any socket", async (t) => {
  const outbound = createOutbound({ guard: { resolve: systemResolver(), connect: systemConnector() } });
  t.after(() => outbound.destroy());
  const policy = webhookPolicy({ allowHttp: true, allowedPrivateCidrs: [] });
  // A connection would fail the whole run.
  const port = await canaryPort();
  for (const host of [
    "127.0.0.1",
    "[::1]",
    "localhost",
    "a.localhost",
    "[::ffff:7f00:1]",
    "0.0.0.0",
    ...ownAddresses(),
  ]) {
    const url = `http://${host.includes(":") && !host.startsWith("[") ? `[${host}]` : host}:${port}/`;
    const error = await outbound
      .exchange({ trust: "caller", method: "GET", url, policy, headers: {} })
      .catch((thrown: unknown) => thrown);
    assert.ok(error instanceof GuardRefusal, `${url}: ${String(error)}`);
  }
  assert.ok(ownAddresses().includes("127.0.0.1"));
});
