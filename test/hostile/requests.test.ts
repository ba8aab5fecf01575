// Every row of test/cases/hostile.ts against a whole gateway over real sockets (reliability 5, R9): the verdict, no provider called,
// nothing recorded, nothing left behind, the event loop free, and a process that serves on.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type HostileRequest, hostileRequests } from "../cases/hostile.ts";
import { envelopeOf, postForm } from "../harness/client.ts";
import { OTHER_KEY } from "../harness/gateway.ts";
import { ask, assertError, get } from "../http/edge/harness.ts";
import { longestTurnMs } from "./longest-turn.ts";
import { FORMULA, startTarget, type Target } from "./setup.ts";

const MAX_TURN_MS = 50;

let target: Target;
before(async () => {
  target = await startTarget();
  // What is compiled at its first use is not what a row is held to.
  for (const row of hostileRequests.slice(0, 20)) await send(row);
});
after(() => target.close());

async function send({ requests, listener }: HostileRequest) {
  const port = listener === "admin" ? target.adminPort : target.port;
  const replies = [];
  for (const request of requests) replies.push(await ask(port, request));
  return replies;
}

test("every row has an id of its own", () => {
  assert.equal(new Set(hostileRequests.map(({ id }) => id)).size, hostileRequests.length);
  assert.ok(hostileRequests.every(({ requests }) => requests.length > 0));
});

for (const row of hostileRequests.filter(({ code }) => code !== null)) {
  test(`${row.id} ${row.input}: ${row.status} ${row.code}`, async () => {
    const untouched = await target.traces();
    const turnMs = await longestTurnMs(async () => {
      for (const reply of await send(row)) assertError(reply, row.status, row.code ?? "");
    });
    assert.deepEqual(await target.traces(), untouched);
    assert.ok(turnMs <= MAX_TURN_MS, `the event loop was held for ${turnMs} ms`);
    assert.equal((await ask(target.port, get("/healthz", ""))).status, 200);
  });
}

for (const row of hostileRequests.filter(({ code }) => code === null)) {
  test(`${row.id} ${row.input}: ${row.status}`, async () => {
    const { providerCalls } = await target.traces();
    for (const reply of await send(row)) assert.equal(reply.status, row.status, reply.body);
    const { providerCalls: now, spooled, canaryConnections } = await target.traces();
    assert.deepEqual([now - providerCalls, spooled, canaryConnections], [row.calls ?? 0, 0, 0]);
  });
}

test("HOS-301 a provider whose ids hold a NUL costs neither the answer nor its charge", async () => {
  const reply = { text: "a\0b", language: "e\0n", duration: 7.5, x_groq: { id: "a\0b" } };
  target.serve((_request, response) => response.writeHead(200).end(JSON.stringify(reply)));
  const answer = await postForm(target.gateway.origin, { key: OTHER_KEY, headers: { "idempotency-key": "nul" } });
  assert.equal(envelopeOf(answer).content, "a\0b");
  const rows = await target.gateway.database.db
    .selectFrom("attempts")
    .select(["outcome", "provider_request_id"])
    .where("model", "=", FORMULA)
    .execute();
  assert.deepEqual(rows, [{ outcome: "succeeded", provider_request_id: null }]);
});

test("HOS-302 a model named like a formula is text in the usage's CSV", async () => {
  const response = await fetch(`${target.gateway.origin}/v1/usage?group_by=model`, {
    headers: { authorization: `Bearer ${OTHER_KEY}`, accept: "text/csv" },
  });
  const [, row] = (await response.text()).split("\r\n");
  assert.ok(row?.startsWith(`"'${FORMULA.replaceAll('"', '""')}",`), row);
});

test("contract 1: whatever was sent, no answer was a fault of the gateway's", () => {
  assert.deepEqual(
    target.gateway.logs.filter((line) => /"code":"INTERNAL"/u.test(line)),
    [],
  );
  assert.equal(Reflect.get({}, "polluted"), undefined);
});
