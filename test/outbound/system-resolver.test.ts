// The real resolver against a name server of the test's own: one set of queries, absolute names, a deadline.
import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { test } from "node:test";
import { systemResolver } from "../../src/outbound/system-network.ts";
import { nameServer } from "./name-server.ts";

const V6 = "2606:4700:4700:0:0:0:0:1111";
const never = new AbortController().signal;

test("remote-audio.resolver: both kinds of addresses are queried once, under exactly the given name, and IPv4 comes first", async (t) => {
  const { asked, server } = await nameServer(t, (_name, type) => (type === "A" ? ["1.1.1.1", "1.0.0.1"] : [V6]));
  const addresses = await systemResolver({ servers: [server] })("media.example", never);
  assert.deepEqual(addresses, ["1.1.1.1", "1.0.0.1", "2606:4700:4700::1111"]);
  assert.deepEqual(asked.toSorted(), ["A media.example", "AAAA media.example"]);
});

test("remote-audio.resolver: a name with one kind of addresses has those; none at all, or an unknown name, is an error", async (t) => {
  const { server } = await nameServer(t, (name, type) =>
    name === "missing.example" ? "nxdomain" : name === "empty.example" || type === "A" ? [] : [V6],
  );
  const resolve = systemResolver({ servers: [server] });
  assert.deepEqual(await resolve("six.example", never), ["2606:4700:4700::1111"]);
  await assert.rejects(resolve("missing.example", never));
  await assert.rejects(resolve("empty.example", never));
});

test("remote-audio.dns-timeout: a server silent about one kind does not cost the answers about the other", async (t) => {
  const { asked, server } = await nameServer(t, (_name, type) => (type === "A" ? ["1.1.1.1"] : "silence"));
  const { signal } = new AbortController();
  // The resolver has a clock of its own: the one answer has long come by then, on a busy machine too.
  assert.deepEqual(await systemResolver({ servers: [server], queryTimeoutMs: 3_000 })("media.example", signal), [
    "1.1.1.1",
  ]);
  // Once each: the guard has the time of one question alone.
  assert.deepEqual(asked.toSorted(), ["A media.example", "AAAA media.example"]);
  assert.equal(getEventListeners(signal, "abort").length, 0);
});

test("remote-audio.dns-timeout: SSRF-315, a query is cancelled when the guard gives up", async (t) => {
  const stop = new AbortController();
  const { server } = await nameServer(t, () => {
    stop.abort();
    return "silence";
  });
  await assert.rejects(systemResolver({ servers: [server] })("media.example", stop.signal), { code: "ECANCELLED" });
});

test("remote-audio.resolver: without configured servers those of the system are asked", async () => {
  const stop = new AbortController();
  const asking = systemResolver()("nowhere.invalid", stop.signal);
  stop.abort();
  // The system's own answer would do as well; only a complaint about no servers would not.
  await assert.rejects(asking, { code: /^E[A-Z]+$/ });
});

test("remote-audio.resolver: localhost is loopback, and no server is asked (RFC 6761)", async (t) => {
  const { asked, server } = await nameServer(t, () => ["8.8.8.8"]);
  const resolve = systemResolver({ servers: [server] });
  for (const name of ["localhost", "a.localhost"]) assert.deepEqual(await resolve(name, never), ["127.0.0.1", "::1"]);
  assert.deepEqual(await resolve("notlocalhost", never), ["8.8.8.8"]);
  assert.deepEqual(
    asked.filter((each) => !each.includes("notlocalhost")),
    [],
  );
});
