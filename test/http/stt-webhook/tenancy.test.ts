// Who may change a workspace's webhook [webhooks.roles], and what every other caller learns [webhooks.tenancy].
import assert from "node:assert/strict";
import { test } from "node:test";
import { newId } from "../../../src/contract/ids.ts";
import { ADMIN, call, MEMBER, openWorld, OPERATOR, OTHER_ADMIN, PATH, RECEIVER } from "./workspace.ts";

test("webhooks.roles: a member gets 403, strangers the 404 of a workspace that does not exist, on every endpoint, and nothing changes", async (t) => {
  const { gateway, received } = await openWorld(t);
  const made = await call(gateway, "PUT", PATH, { body: { url: RECEIVER } });
  assert.equal(made.status, 200, made.text);
  const tested = await call(gateway, "POST", `${PATH}/test`);
  const id = String(tested.json["id"]);
  const endpoints: readonly (readonly [string, string, unknown?])[] = [
    ["PUT", "", { url: "https://receiver.example/taken", rotate_secret: true }],
    ["GET", ""],
    ["GET", "/deliveries"],
    ["POST", `/deliveries/${id}/redeliver`],
    ["POST", "/test"],
    ["GET", "/stream"],
    ["DELETE", ""],
  ];
  const bare = (answer: Awaited<ReturnType<typeof call>>) => ({
    status: answer.status,
    text: answer.text.replaceAll(answer.requestId, "req"),
  });
  for (const [method, path, body] of endpoints) {
    const ask = (workspace: string, key: string) =>
      call(gateway, method, `/workspace/${workspace}/stt-webhook${path}`, { key, body });
    assert.equal((await ask("acme", MEMBER)).code, "FORBIDDEN", `${method} ${path}`);
    const missing = bare(await ask("no-such-workspace", OPERATOR));
    assert.equal(missing.status, 404);
    assert.match(missing.text, /"NOT_FOUND"/);
    for (const [workspace, key] of [
      ["acme", OTHER_ADMIN],
      ["no-such-workspace", OTHER_ADMIN],
      ["no-such-workspace", ADMIN],
      ["no-such-workspace", MEMBER],
      ["other", MEMBER],
    ] as const)
      assert.deepEqual(bare(await ask(workspace, key)), missing, `${method} ${path} of ${workspace}`);
  }
  const { secret: _secret, ...before } = made.json;
  assert.deepEqual((await call(gateway, "GET", PATH)).json, before);
  assert.equal(received.length, 1, "only the administrator's own test was delivered");
});

test("webhooks.tenancy: one workspace's deliveries can be neither seen nor redelivered by another's administrator", async (t) => {
  const { gateway } = await openWorld(t);
  const theirs = "/workspace/other/stt-webhook";
  await call(gateway, "PUT", PATH, { body: { url: RECEIVER } });
  await call(gateway, "PUT", theirs, { key: OTHER_ADMIN, body: { url: RECEIVER } });
  const tested = await call(gateway, "POST", `${PATH}/test`);
  const own = await call(gateway, "GET", `${theirs}/deliveries`, { key: OTHER_ADMIN });
  assert.deepEqual(own.json["data"], []);
  const withoutId = (answer: Awaited<ReturnType<typeof call>>) => answer.text.replaceAll(answer.requestId, "req");
  const redeliver = (id: string) => call(gateway, "POST", `${theirs}/deliveries/${id}/redeliver`, { key: OTHER_ADMIN });
  const foreign = await redeliver(String(tested.json["id"]));
  const missing = await redeliver(newId("delivery"));
  assert.equal(foreign.code, "NOT_FOUND");
  assert.equal(withoutId(foreign), withoutId(missing));
});
