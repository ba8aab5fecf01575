// Requests to addresses that a caller supplied: how webhooks and remote audio are sent.
import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { Socket } from "node:net";
import { mock, type TestContext, test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { Client } from "undici";
import {
  type CallerRequest,
  ConnectFailure,
  createOutbound,
  GuardRefusal,
  OutboundError,
} from "../../src/outbound/dial.ts";
import { refusalOf } from "../../src/outbound/refusal.ts";
import { audioUrlPolicy, webhookPolicy } from "../../src/outbound/url-policy.ts";
import { eachOf } from "../harness/each-of.ts";
import { httpServer, readAll, socketServer } from "./loopback.ts";
import { type PretendInternet, pretendInternet } from "./pretend-internet.ts";
import { aWhile, impatient, soon } from "./soon.ts";
import { thrownBy } from "./way-out.ts";

const PUBLIC = "93.184.216.34";
const HOOK = "https://hooks.example/in?x=%2F'";

async function setUp(t: TestContext) {
  const internet = pretendInternet();
  const outbound = impatient(createOutbound({ guard: internet }));
  t.after(() => outbound.destroy());
  return { internet, outbound };
}

function receiver(internet: PretendInternet, url: URL): void {
  internet.name("hooks.example", [PUBLIC]);
  internet.server(PUBLIC, url);
}

const post = (over: Partial<CallerRequest> = {}): CallerRequest => {
  const bytes = Buffer.from("{}");
  return {
    trust: "caller",
    policy: webhookPolicy({ allowHttp: false, allowedPrivateCidrs: [] }),
    method: "POST",
    url: HOOK,
    headers: { "content-type": "application/json" },
    body: {
      sizeBytes: bytes.length,
      open: async function* () {
        yield bytes;
      },
    },
    maxReplyBytes: 16 * 1024,
    ...over,
  };
};

test("remote-audio.shared-guard, remote-audio.dial-vetted: a webhook goes to the vetted address under its own name, with its query byte for byte", async (t) => {
  const { internet, outbound } = await setUp(t);
  const seen: unknown[] = [];
  const url = await httpServer(t, async (request, response) => {
    seen.push([request.method, request.url, request.headers.host, (await readAll(request)).toString()]);
    response.writeHead(204).end();
  });
  receiver(internet, url);
  const reply = await outbound.exchange(post());
  assert.equal(reply.status, 204);
  assert.deepEqual(seen, [["POST", "/in?x=%2F'", "hooks.example", "{}"]]);
  assert.deepEqual(internet.dialled, [{ address: PUBLIC, port: 443, tlsName: "hooks.example" }]);
  assert.deepEqual(internet.lookups, ["hooks.example"]);
  assert.deepEqual([outbound.judged(), outbound.dispatched()], [1, 1]);
});

test("remote-audio.own-connection, remote-audio.resolve-once: SSRF-312, no socket is used twice: the guard runs and the name is resolved for every request to a caller's address", async (t) => {
  const { internet, outbound } = await setUp(t);
  receiver(internet, await httpServer(t, (_request, response) => void response.end()));
  for (let round = 0; round < 5; round++) await outbound.exchange(post());
  await outbound.receive(post(), async () => undefined);
  await outbound.vet(HOOK, post().policy);
  assert.deepEqual([outbound.judged(), internet.lookups.length, internet.dialled.length], [7, 7, 6]);
});

test("remote-audio.resolve-once: SSRF-311, SSRF-449, a name that turns private after it was vetted is refused, and nothing is dialled", async (t) => {
  const { internet, outbound } = await setUp(t);
  receiver(internet, await socketServer(t, (socket) => socket.resetAndDestroy()));
  internet.rebinding("hooks.example", [[PUBLIC], [PUBLIC], ["10.0.0.5"]]);
  await outbound.vet(HOOK, post().policy);
  assert.ok((await thrownBy(outbound.exchange(post()))) instanceof OutboundError);
  assert.ok((await thrownBy(outbound.exchange(post()))) instanceof GuardRefusal);
  assert.deepEqual([internet.dialled.length, internet.canaryConnections()], [1, 0]);
});

test("providers.plain-reply: SSRF-450, SSRF-452, redirects are returned and not followed, compressed replies are not decompressed", async (t) => {
  const { internet, outbound } = await setUp(t);
  const url = await httpServer(t, (_request, response) => {
    response.writeHead(302, { location: "https://169.254.169.254/", "content-encoding": "gzip" }).end("not gzip");
  });
  receiver(internet, url);
  const reply = await outbound.exchange(post());
  assert.deepEqual([reply.status, reply.text], [302, "not gzip"]);
  assert.deepEqual([internet.dialled.length, internet.canaryConnections()], [1, 0]);
});

test("webhooks.reply-limit: SSRF-451, of an endless reply at most maxReplyBytes are read, the connection is closed and the status decides", async (t) => {
  const { internet, outbound } = await setUp(t);
  const closed = Promise.withResolvers<void>();
  const url = await httpServer(t, (_request, response) => {
    response.on("close", () => closed.resolve());
    const more = (): void =>
      void (response.destroyed || response.write(Buffer.alloc(4_096, 65), () => setImmediate(more)));
    more();
  });
  receiver(internet, url);
  const reply = await outbound.exchange(post());
  assert.equal(reply.status, 200);
  assert.ok(reply.text.length <= 16 * 1024);
  await soon(closed.promise);
});

test("providers.dispatch: a receiver that never answers is a timeout after the first byte, an unreachable one a timeout before it", async (t) => {
  const { internet, outbound } = await setUp(t);
  t.mock.timers.enable({ apis: ["setTimeout"] });
  receiver(internet, await socketServer(t, (socket) => socket.once("data", () => t.mock.timers.tick(100))));
  const late = await thrownBy(outbound.exchange(post({ timeoutMs: 100 })));
  assert.ok(late instanceof OutboundError);
  assert.deepEqual([late.failure, late.dispatched], ["timeout", true]);
  internet.server(PUBLIC, new URL("http://127.0.0.1:1"));
  const unreachable = await thrownBy(outbound.exchange(post()));
  assert.ok(unreachable instanceof OutboundError);
  assert.deepEqual([unreachable.failure, unreachable.dispatched], ["connection", false]);
});

test("remote-audio.interim-replies: SSRF-400, a server that sends interim heads without end is given up", async (t) => {
  const { internet, outbound } = await setUp(t);
  const url = await socketServer(t, (socket) =>
    socket.once("data", () => socket.write("HTTP/1.1 103 Early Hints\r\n\r\n".repeat(50))),
  );
  receiver(internet, url);
  const error = await thrownBy(outbound.exchange(post()));
  assert.ok(error instanceof OutboundError);
  assert.equal(error.failure, "connection");
});

test("remote-audio.hang-up: a caller that hangs up ends the request at any point", async (t) => {
  const { internet, outbound } = await setUp(t);
  const hangUp = new AbortController();
  const url = await socketServer(t, (socket) => socket.once("data", () => hangUp.abort()));
  receiver(internet, url);
  const error = await thrownBy(outbound.exchange(post({ signal: hangUp.signal })));
  assert.ok(error instanceof OutboundError);
  assert.equal(error.failure, "aborted");
  const before = await thrownBy(outbound.exchange(post({ signal: hangUp.signal })));
  assert.ok(before instanceof OutboundError);
  assert.deepEqual([before.failure, before.dispatched], ["aborted", false]);
});

test("webhooks.url-rules: SSRF-447, SSRF-448, SSRF-455, SSRF-456, SSRF-458, which addresses a webhook may have", async (t) => {
  const { internet, outbound } = await setUp(t);
  internet.name("lan.example", ["10.1.2.3"]);
  internet.name("hooks.example", [PUBLIC]);
  const shut = post().policy;
  const open = webhookPolicy({
    allowHttp: true,
    allowedPrivateCidrs: ["10.1.0.0/16", "127.0.0.0/8", "169.254.0.0/16"],
  });
  const verdict = (url: string, policy = shut) =>
    outbound.vet(url, policy).then(
      () => "allow",
      (error: unknown) => (error instanceof GuardRefusal ? error.reason : String(error)),
    );
  assert.equal(await verdict("https://10.0.0.5/hook"), "address_not_public");
  assert.equal(await verdict("https://user:secret@hooks.example/"), "malformed");
  assert.equal(await verdict("https://hooks.example:8443/in#part"), "allow");
  assert.equal(await verdict("http://hooks.example/"), "scheme");
  assert.equal(await verdict("https://lan.example/"), "address_not_public");
  assert.equal(await verdict("http://lan.example:3000/", open), "allow");
  assert.equal(await verdict("http://127.0.0.1:3000/", open), "allow");
  assert.equal(await verdict("http://10.2.0.1/", open), "address_not_public");
  assert.equal(await verdict("http://169.254.169.254/latest/meta-data/", open), "address_not_public");
  assert.equal(await verdict("https://hooks.example:0/", open), "port");
});

test("remote-audio.listed-host: a remote audio request without a listed host asks no name server", async (t) => {
  const { internet, outbound } = await setUp(t);
  const policy = audioUrlPolicy({ domains: ["media.example"], allowedPorts: [443] });
  const error = await thrownBy(outbound.receive(post({ policy }), async () => undefined));
  assert.ok(error instanceof GuardRefusal);
  assert.deepEqual([error.reason, internet.lookups.length], ["host_not_allowed", 0]);
});

test("remote-audio.orderly-close: closing waits for requests in progress, destroying cuts them", async (t) => {
  const { internet, outbound } = await setUp(t);
  const arrived = Promise.withResolvers<() => void>();
  receiver(internet, await httpServer(t, (_request, response) => arrived.resolve(() => response.writeHead(204).end())));
  const answered = outbound.exchange(post());
  const answer = await soon(arrived.promise);
  let closed = false;
  const closing = outbound.close().then(() => (closed = true));
  // Time enough for the pool of the operator's addresses, where nothing is under way.
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
  assert.equal(closed, false);
  answer();
  assert.equal((await answered).status, 204);
  await closing;

  const second = await setUp(t);
  const asked = Promise.withResolvers<void>();
  receiver(second.internet, await socketServer(t, (socket) => socket.once("data", () => asked.resolve())));
  const cut = thrownBy(second.outbound.exchange(post()));
  await soon(asked.promise);
  await second.outbound.destroy();
  assert.ok((await cut) instanceof OutboundError);
});

test("remote-audio.guard-always-runs: an outbound client without a resolver and a connector sends nothing to a caller's address", async (t) => {
  const outbound = createOutbound();
  t.after(() => outbound.destroy());
  await assert.rejects(outbound.exchange(post()), /no resolver/);
  await assert.rejects(outbound.vet(HOOK, post().policy), /no resolver/);
  assert.equal(outbound.judged(), 0);
});

/** An open stream and the end of its socket; its body is not read yet. */
async function openedStream(t: TestContext, over: Partial<CallerRequest>) {
  const { internet, outbound } = await setUp(t);
  const gone = Promise.withResolvers<void>();
  const url = await socketServer(t, (socket) => {
    socket.once("data", () => socket.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n"));
    socket.once("close", () => gone.resolve());
  });
  receiver(internet, url);
  return { outbound, gone: gone.promise, stream: await outbound.open(post(over)) };
}

test("providers.byok-guard, remote-audio.own-connection: a stream from a caller's address is read while it arrives, and its connection closes with its reader", async (t) => {
  const { gone, stream } = await openedStream(t, {});
  assert.equal(stream.status, 200);
  for await (const chunk of eachOf(stream.body)) {
    assert.equal(Buffer.from(chunk).toString(), "hello");
    break;
  }
  await soon(gone);
});

test("remote-audio.reply-bound: a stream that is not read is closed when its time is over, or when it is aborted", async (t) => {
  mock.timers.enable({ apis: ["setTimeout"] });
  t.after(() => mock.timers.reset());
  const timed = await openedStream(t, { timeoutMs: 60_000 });
  mock.timers.tick(60_000);
  await soon(timed.gone);
  await timed.outbound.close();
  const wanted = new AbortController();
  const { gone, outbound } = await openedStream(t, { signal: wanted.signal });
  wanted.abort();
  await soon(gone);
  await outbound.close();
  assert.equal(getEventListeners(wanted.signal, "abort").length, 0);
});

test("remote-audio.guard-always-runs: a stream does not bypass the guard", async (t) => {
  const { internet, outbound } = await setUp(t);
  internet.name("hooks.example", ["10.0.0.5"]);
  assert.ok((await thrownBy(outbound.open(post()))) instanceof GuardRefusal);
  assert.deepEqual([outbound.judged(), outbound.dispatched(), internet.dialled.length], [1, 0, 0]);
});

test("remote-audio.own-connection: the connection of a received reply is closed and forgotten once it was read", async (t) => {
  const { internet, outbound } = await setUp(t);
  const gone = Promise.withResolvers<void>();
  const url = await httpServer(t, (request, response) => {
    request.socket.once("close", () => gone.resolve());
    response.end("read");
  });
  receiver(internet, url);
  const status = await outbound.receive(post(), async (reply) => {
    await Array.fromAsync(reply.body);
    return reply.status;
  });
  assert.equal(status, 200);
  await soon(gone.promise);
  await outbound.close();
});

test("providers.refusal-without-body: a partial reply fails where the whole one is required; elsewhere the status decides", async (t) => {
  const { internet, outbound } = await setUp(t);
  const url = await socketServer(t, (socket) =>
    socket.once("data", () => socket.end("HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n{")),
  );
  receiver(internet, url);
  assert.equal((await outbound.exchange(post())).status, 200);
  const error = await thrownBy(outbound.exchange(post({ wholeReply: true })));
  assert.ok(error instanceof OutboundError);
  assert.deepEqual([error.failure, error.dispatched], ["connection", true]);
});

const socketRequest = (over: { readonly signal?: AbortSignal } = {}) =>
  ({
    trust: "caller",
    url: "https://hooks.example/live?x=1",
    policy: webhookPolicy({ allowHttp: false, allowedPrivateCidrs: [] }),
    headers: {},
    timeoutMs: 10_000,
    idleTimeoutMs: 10_000,
    ...over,
  }) as const;

test("providers.byok-guard, remote-audio.dial-vetted: a WebSocket to a caller's address uses the vetted address and the vetted connection", async (t) => {
  const { internet, outbound } = await setUp(t);
  const url = await httpServer(t, (_request, response) => void response.writeHead(401).end("who are you"));
  receiver(internet, url);
  const opened = await outbound.connect(socketRequest());
  assert.ok(!opened.ok);
  assert.deepEqual([opened.reply.status, opened.reply.text], [401, "who are you"]);
  assert.deepEqual(internet.dialled, [{ address: PUBLIC, port: 443, tlsName: "hooks.example" }]);
  internet.name("hooks.example", ["10.0.0.5"]);
  assert.ok((await thrownBy(outbound.connect(socketRequest()))) instanceof GuardRefusal);
  assert.deepEqual([outbound.judged(), internet.dialled.length], [2, 1]);
});

test("providers.abort: a WebSocket that was aborted before it was dialled is not dialled", async (t) => {
  const { internet, outbound } = await setUp(t);
  internet.name("hooks.example", [PUBLIC]);
  const error = await thrownBy(outbound.connect(socketRequest({ signal: AbortSignal.abort() })));
  assert.ok(error instanceof OutboundError);
  assert.deepEqual([error.failure, error.dispatched, internet.dialled.length], ["aborted", false, 0]);
});

test("remote-audio.guard-always-runs: a new outbound client has sent nothing and judged nothing", async (t) => {
  const { outbound } = await setUp(t);
  assert.deepEqual([outbound.dispatched(), outbound.judged()], [0, 0]);
});

test("remote-audio.orderly-close: destroying ends only when everything that it cut has ended", async (t) => {
  const { internet, outbound } = await setUp(t);
  const asked = Promise.withResolvers<void>();
  receiver(internet, await socketServer(t, (socket) => socket.once("data", () => asked.resolve())));
  let ended = false;
  const cut = outbound.exchange(post()).catch(() => {
    ended = true;
  });
  await soon(asked.promise);
  await outbound.destroy();
  assert.equal(ended, true);
  await cut;
});

test("remote-audio.orderly-close: destroying also waits for a connection that is being opened, and for the handling of a reply", async () => {
  const internet = pretendInternet();
  internet.name("hooks.example", [PUBLIC]);
  const opening = Promise.withResolvers<void>();
  const refused = Promise.withResolvers<never>();
  const connect: PretendInternet["connect"] = () => {
    opening.resolve();
    return refused.promise;
  };
  const outbound = impatient(createOutbound({ guard: { ...internet, connect } }));
  const sending = thrownBy(outbound.exchange(post()));
  await soon(opening.promise);
  let isDestroyed = false;
  const destroying = outbound.destroy().then(() => (isDestroyed = true));
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
  assert.equal(isDestroyed, false);
  refused.reject(new ConnectFailure("connect"));
  assert.ok((await sending) instanceof ConnectFailure);
  await destroying;
});

test("remote-audio.nothing-left: a stream from a caller's address continues while it is read, and then leaves nothing", async (t) => {
  const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length;
  for (const over of [{}, { timeoutMs: 3_600_000 }]) {
    const { internet, outbound } = await setUp(t);
    const goOn = Promise.withResolvers<void>();
    const url = await socketServer(t, (socket) => {
      socket.once("data", () => socket.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n"));
      void goOn.promise.then(() => socket.write("3\r\ntwo\r\n0\r\n\r\n"));
    });
    receiver(internet, url);
    const { signal } = new AbortController();
    const before = timers();
    const stream = await outbound.open(post({ ...over, signal }));
    let text = "";
    for await (const chunk of eachOf(stream.body)) {
      text += Buffer.from(chunk).toString();
      // About the clock: a limit that is not set is not one of a millisecond.
      await new Promise((resolve) => setTimeout(resolve, 5));
      goOn.resolve();
    }
    assert.equal(text, "onetwo");
    await outbound.close();
    assert.deepEqual([timers(), getEventListeners(signal, "abort").length], [before, 0]);
  }
});

test("remote-audio.own-connection: a connection that is lost before the request is sent is not replaced: nothing was sent, and nothing else is dialled", async (t) => {
  const { internet, outbound } = await setUp(t);
  internet.name("hooks.example", [PUBLIC]);
  const given: Socket[] = [];
  const connect: PretendInternet["connect"] = async ({ address }) => {
    const socket = new Socket();
    socket.destroy();
    given.push(socket);
    return { socket, remoteAddress: address };
  };
  const gone = impatient(createOutbound({ guard: { ...internet, connect } }));
  t.after(() => gone.destroy());
  const error = await thrownBy(gone.exchange(post({ timeoutMs: 60_000 })));
  assert.ok(error instanceof OutboundError);
  assert.deepEqual([error.failure, error.dispatched, given.length], ["connection", false, 1]);
  assert.deepEqual([gone.dispatched(), outbound.judged()], [0, 0]);
});

test("remote-audio.total-time: the time that the connection took is part of the request's time", async (t) => {
  mock.timers.enable({ apis: ["setTimeout"] });
  let nowMs = 1_000_000;
  mock.method(performance, "now", () => nowMs);
  t.after(() => mock.reset());
  const internet = pretendInternet();
  const connect: PretendInternet["connect"] = (target, signal) => {
    nowMs += 400;
    return internet.connect(target, signal);
  };
  const outbound = impatient(createOutbound({ guard: { ...internet, connect } }));
  t.after(() => outbound.destroy());
  const asked = Promise.withResolvers<void>();
  receiver(internet, await socketServer(t, (socket) => socket.once("data", () => asked.resolve())));
  let isOver = false;
  const sending = thrownBy(outbound.exchange(post({ timeoutMs: 1_000 }))).finally(() => (isOver = true));
  await soon(asked.promise);
  mock.timers.tick(599);
  await aWhile();
  assert.equal(isOver, false);
  mock.timers.tick(1);
  const error = await sending;
  assert.ok(error instanceof OutboundError);
  assert.deepEqual([error.failure, error.dispatched], ["timeout", true]);
});

test("remote-audio.orderly-close: a client that cannot be destroyed fails its own request only: no rejection is unhandled and destroying does not hang", async (t) => {
  const { internet, outbound } = await setUp(t);
  mock.method(Client.prototype, "destroy", async () => Promise.reject(new Error("stuck")));
  t.after(() => mock.reset());
  const asked = Promise.withResolvers<void>();
  for (const answer of ["HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", null]) {
    const closed = Promise.withResolvers<void>();
    const url = await socketServer(t, (socket) => {
      socket.once("data", () => (answer === null ? asked.resolve() : socket.write(answer)));
      socket.once("close", () => closed.resolve());
    });
    receiver(internet, url);
    const ended = thrownBy(outbound.exchange(post()));
    if (answer === null) {
      await soon(asked.promise);
      await outbound.destroy();
    }
    assert.match(String(await ended), /stuck/);
    await soon(closed.promise);
  }
});

test("remote-audio.nothing-left: a finished request to a caller's address is garbage-collected", async (t) => {
  const { internet } = await setUp(t);
  const forgotten: WeakRef<object>[] = [];
  const sockets: WeakRef<object>[] = [];
  const connect: PretendInternet["connect"] = async (target, signal) => {
    const connected = await internet.connect(target, signal);
    sockets.push(new WeakRef(connected.socket));
    return connected;
  };
  const outbound = createOutbound({ guard: { ...internet, connect } });
  t.after(() => outbound.destroy());
  receiver(internet, await httpServer(t, (_request, response) => void response.end()));
  for (let round = 0; round < 5; round++) {
    const answered = outbound.receive(post(), async () => ({}));
    forgotten.push(new WeakRef(answered));
    await answered;
  }
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
  collect();
  // The last one may still be held by the frame that awaited it.
  const held = (those: readonly WeakRef<object>[]) => those.filter((each) => each.deref() !== undefined).length;
  assert.ok(held(forgotten) <= 1 && held(sockets) <= 2, `${held(forgotten)} replies, ${held(sockets)} sockets`);
});

test("remote-audio.check-same-rules: the reason for a refused address is one word, and an error that is no refusal is thrown", async () => {
  const policy = post().policy;
  assert.equal(await refusalOf({ vet: async () => undefined }, HOOK, policy), null);
  const refuse = async () => {
    throw new GuardRefusal("port", "99");
  };
  assert.equal(await refusalOf({ vet: refuse }, HOOK, policy), "port");
  const broken = new Error("broken");
  const fail = async () => {
    throw broken;
  };
  await assert.rejects(refusalOf({ vet: fail }, HOOK, policy), broken);
});
