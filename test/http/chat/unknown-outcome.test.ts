// What follows a chat whose outcome is unknown: the next target, unless the route forbids it or no time is left; and what the caller's
// message reports.
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { chatOf, postChat, streamChat } from "../../harness/chat-client.ts";
import { answer, type Behaviour, json } from "../../harness/chat-upstream.ts";
import { neverResting } from "../../harness/gateway.ts";
import { attemptsOf, type ChatGateway, forget, startChatGateway } from "./chat-gateway.ts";

/** Breaks the connection after the request came. */
const breakOff: Behaviour = ({ response }) => void response.socket?.resetAndDestroy();

let gateway: ChatGateway;
let lateMs = 0;
before(async () => {
  gateway = await startChatGateway({
    gateway: {
      wrapGateway: (services) => ({
        ...neverResting(services),
        now: () => new Date(services.now().getTime() + lateMs),
      }),
    },
    file: (file) => {
      const [first, ...others] = file.connections ?? [];
      const [route, ...routes] = file.routes ?? [];
      assert(first !== undefined && route !== undefined);
      const third = { ...first, id: "third" };
      const targets = [...route.targets, { connection: "third", model: "one" }];
      return {
        ...file,
        connections: [first, ...others, third],
        routes: [{ ...route, targets }, ...routes],
      };
    },
  });
});
after(() => gateway.close());
beforeEach(async () => {
  lateMs = 0;
  await forget(gateway);
  gateway.first.behave(breakOff);
  gateway.second.behave(answer);
});

test("chat.unknown-outcome: after an unknown outcome, and another target that failed, with no time for a third: the message reports both", async () => {
  gateway.second.behave((call) => {
    lateMs = 3_600_000;
    json(call, 500, {});
  });
  const refused = await postChat(gateway.origin, {});
  assert.deepEqual([refused.status, refused.code], [502, "PROVIDER_RESULT_UNKNOWN"], refused.text);
  assert.match(refused.text, /nothing was charged and the calls after it failed\./u);
  assert.deepEqual([gateway.first.calls.length, gateway.second.calls.length], [1, 1]);
});

test("chat.unknown-outcome: after an unknown outcome with no time for another: the message says that none was tried", async () => {
  gateway.first.behave((call) => {
    lateMs = 3_600_000;
    void breakOff(call);
  });
  const refused = await postChat(gateway.origin, {});
  assert.deepEqual([refused.status, refused.code], [502, "PROVIDER_RESULT_UNKNOWN"], refused.text);
  assert.match(refused.text, /nothing was charged and no other provider was tried\./u);
  assert.equal(gateway.second.calls.length, 0);
});

test("chat.fallback-after-unknown: a route that does not fall back after an unknown outcome still does after a definite failure", async () => {
  const strict = await startChatGateway({
    route: { fallback_after_unknown: false },
    gateway: { wrapGateway: neverResting },
  });
  try {
    const outcomes = async () => (await attemptsOf(strict)).map(({ model, outcome }) => [model, outcome]);
    strict.first.behave(breakOff);
    for (const ask of [postChat, streamChat]) {
      await forget(strict);
      const refused = await ask(strict.origin, {});
      assert.equal(refused.status, 502);
      assert.match(refused.text, /no other provider was tried/u);
      assert.equal(strict.second.calls.length, 0);
      assert.deepEqual(await outcomes(), [["one", "unknown"]]);
    }
    await forget(strict);
    strict.first.behave((call) => json(call, 500, {}));
    chatOf(await postChat(strict.origin, {}));
    assert.deepEqual(await outcomes(), [
      ["one", "failed:server_error"],
      ["two", "succeeded"],
    ]);
  } finally {
    await strict.close();
  }
});
