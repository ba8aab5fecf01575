// What the webhook's endpoints refuse, with nothing left behind [webhooks.validation].
import assert from "node:assert/strict";
import { test } from "node:test";
import { newId } from "../../../src/contract/ids.ts";
import { call, openWorld, PATH, RECEIVER } from "./workspace.ts";

test("webhooks.url-rules: an address that cannot be delivered to is refused when it is saved, and nothing is dialled", async (t) => {
  const world = await openWorld(t);
  world.internet.name("internal.example", ["10.0.0.7"]);
  world.internet.name("half.example", ["93.184.216.34", "127.0.0.1"]);
  for (const url of [
    "http://receiver.example/",
    "ftp://receiver.example/",
    "https://localhost/",
    "https://127.0.0.1:8080/",
    "https://[::1]/",
    "https://169.254.169.254/latest/meta-data/",
    "https://internal.example/",
    "https://half.example/",
    "https://unknown.example/",
    "https://user:password@receiver.example/",
    "https://receiver.example:0/",
    "https:receiver.example",
    "receiver.example",
    " https://receiver.example/",
    `https://receiver.example/${"a".repeat(2_048)}`,
  ]) {
    const answer = await call(world.gateway, "PUT", PATH, { body: { url } });
    assert.equal(answer.code, "INVALID_REQUEST", `${url}: ${answer.text}`);
    const { param, message } = (answer.json as { error: { param: string; message: string } }).error;
    assert.equal(param, "url", url);
    for (const address of ["10.0.0.7", "127.0.0.1", "93.184"]) assert.ok(!message.includes(address), message);
  }
  assert.deepEqual(world.internet.dialled, []);
  assert.equal((await call(world.gateway, "GET", PATH)).code, "NOT_FOUND");
  assert.equal(
    (await call(world.gateway, "PUT", PATH, { body: { url: "https://receiver.example:8443/x" } })).status,
    200,
  );
});

test("webhooks.url-at-attempt: an address that has become private since is refused at the attempt, and nothing is dialled", async (t) => {
  const world = await openWorld(t);
  assert.equal((await call(world.gateway, "PUT", PATH, { body: { url: RECEIVER } })).status, 200);
  world.internet.name("receiver.example", ["192.168.1.1"]);
  const answer = await call(world.gateway, "POST", `${PATH}/test`);
  const [attempt] = (answer.json as { attempts: { outcome: string; status_code: null }[] }).attempts;
  assert.deepEqual([attempt?.outcome, attempt?.status_code], ["address_not_allowed", null]);
  assert.deepEqual(world.internet.dialled, []);
  assert.equal(world.received.length, 0);
});

test("webhooks.preconditions: a change from an outdated state is refused, and leaves settings and secret as they are", async (t) => {
  const { gateway } = await openWorld(t);
  const put = (headers: Readonly<Record<string, string>>, body: object = {}) =>
    call(gateway, "PUT", PATH, { headers, body: { url: RECEIVER, ...body } });
  assert.equal((await put({ "if-match": "*" })).code, "PRECONDITION_FAILED", "there is none yet");
  const made = await put({ "if-none-match": "*" });
  assert.equal(made.status, 200, made.text);
  const read = await call(gateway, "GET", PATH);
  assert.ok(made.etag !== null && made.etag === read.etag, "the secret is no part of the state");
  assert.equal((await put({ "if-none-match": "*" }, { rotate_secret: true })).code, "PRECONDITION_FAILED");
  for (const unclear of [{ "if-none-match": made.etag }, { "if-none-match": "*", "if-match": "*" }])
    assert.equal((await put(unclear)).code, "INVALID_REQUEST");
  const moved = await put({ "if-match": made.etag }, { enabled: false });
  assert.notEqual(moved.etag, made.etag);
  for (const method of ["PUT", "DELETE"])
    assert.equal(
      (
        await call(gateway, method, PATH, {
          headers: { "if-match": made.etag },
          ...(method === "PUT" ? { body: { url: RECEIVER, rotate_secret: true } } : {}),
        })
      ).code,
      "PRECONDITION_FAILED",
    );
  assert.deepEqual((await call(gateway, "GET", PATH)).json, moved.json);
  assert.equal((await put({})).status, 200, "If-Match is optional");
  assert.equal((await call(gateway, "DELETE", PATH, { headers: { "if-match": "*" } })).status, 200);
});

test("webhooks.validation: unknown and mistyped fields, a body that is not JSON, queries out of range: all faults at once", async (t) => {
  const { gateway } = await openWorld(t);
  const bad = await call(gateway, "PUT", PATH, { body: { url: 5, enabled: "yes", secret: "whsec_mine" } });
  assert.equal(bad.code, "INVALID_REQUEST");
  const { issues } = (bad.json as { error: { details: { issues: { param: string }[] } } }).error.details;
  assert.deepEqual(issues.map(({ param }) => param).toSorted(), ["enabled", "secret", "url"]);
  for (const body of [undefined, "", "[]", '"x"', "{", {}])
    assert.match((await call(gateway, "PUT", PATH, { body })).code ?? "", /^(INVALID_REQUEST|UNSUPPORTED_MEDIA_TYPE)$/);
  const large = await call(gateway, "PUT", PATH, { body: { url: "x".repeat(70_000) } });
  assert.equal(large.code, "BODY_TOO_LARGE");
  for (const query of ["limit=0", "limit=101", "status=lost", "page=2", "cursor="])
    assert.equal((await call(gateway, "GET", `${PATH}/deliveries?${query}`)).code, "INVALID_REQUEST", query);
  for (const limit of ["ten", "", "0x10", "1e1", "1.0", "%2B5", "%205"]) {
    const { code, json } = await call(gateway, "GET", `${PATH}/deliveries?limit=${limit}`);
    const { message } = (json as { error: { message: string } }).error;
    assert.deepEqual([code, message], ["INVALID_REQUEST", "`limit`: must be a number"], limit);
  }
});

test("webhooks.validation: a missing or null field is reported as required, not as having a wrong type", async (t) => {
  const world = await openWorld(t);
  for (const body of [{}, { url: null, enabled: true }]) {
    const answer = await call(world.gateway, "PUT", PATH, { body });
    const { param, message } = (answer.json as { error: { param: string; message: string } }).error;
    assert.deepEqual([answer.code, param, message], ["INVALID_REQUEST", "url", "`url` is required."]);
  }
});

test("webhooks.validation, webhooks.redeliver: without a webhook there is nothing to test, redeliver or delete; a disabled one redelivers nothing", async (t) => {
  const { gateway } = await openWorld(t);
  for (const [method, path] of [
    ["GET", PATH],
    ["DELETE", PATH],
    ["POST", `${PATH}/test`],
    ["POST", `${PATH}/deliveries/${newId("delivery")}/redeliver`],
  ] as const)
    assert.equal((await call(gateway, method, path)).code, "NOT_FOUND", `${method} ${path}`);
  assert.equal((await call(gateway, "PUT", PATH, { body: { url: RECEIVER, enabled: false } })).status, 200);
  const tested = await call(gateway, "POST", `${PATH}/test`);
  const redelivery = `${PATH}/deliveries/${String(tested.json["id"])}/redeliver`;
  assert.equal((await call(gateway, "POST", redelivery)).code, "INVALID_REQUEST");
  assert.equal((await call(gateway, "POST", `${PATH}/deliveries/whd_none/redeliver`)).code, "INVALID_REQUEST");
});
