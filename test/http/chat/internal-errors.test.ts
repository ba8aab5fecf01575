// An internal error during a chat: what was reserved for it is returned and recorded, whatever paid for it, and its key is free where
// nothing was sent.
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import type { ChatProvider } from "../../../src/providers/chat/chat-provider.ts";
import { chatOf, postChat } from "../../harness/chat-client.ts";
import { answer } from "../../harness/chat-upstream.ts";
import { attemptsOf, type ChatGateway, forget, startChatGateway } from "./chat-gateway.ts";

type When = "before dispatch" | "after dispatch";

let gateway: ChatGateway;
let faultyWhen: When | null = null;
before(async () => {
  gateway = await startChatGateway({
    app: { budgets: [{ period: "month", limit_tokens: 10_000 }] },
    gateway: {
      wrapGateway: (services) => {
        const real = services.chatProviders.get("openai-compatible");
        assert(real !== undefined);
        const chatProviders = new Map(services.chatProviders).set("openai-compatible", faulty(real));
        return { ...services, chatProviders };
      },
    },
  });
});
after(() => gateway.close());
beforeEach(async () => {
  faultyWhen = null;
  await forget(gateway);
  gateway.first.behave(answer);
});

function faulty(real: ChatProvider): ChatProvider {
  const failIf = (when: When): void => {
    if (faultyWhen === when) throw new RangeError("an internal error");
  };
  return {
    ...real,
    chat: async (plan, io) => {
      failIf("before dispatch");
      const result = await real.chat(plan, io);
      failIf("after dispatch");
      return result;
    },
    stream: (plan, io) => {
      failIf("before dispatch");
      return failing(real.stream(plan, io), () => failIf("after dispatch"));
    },
  };
}

async function* failing<T>(source: AsyncIterable<T>, fail: () => void): AsyncGenerator<T> {
  for await (const each of source) {
    fail();
    yield each;
  }
}

async function windowOfNow() {
  await gateway.app.settled();
  return gateway.database.db
    .selectFrom("budget_windows")
    .select(["spent_tokens", "reserved_tokens"])
    .executeTakeFirstOrThrow();
}

for (const when of ["before dispatch", "after dispatch"] as const) {
  for (const [how, fields, headers] of [
    ["plain", {}, {}],
    ["with a key", {}, { "idempotency-key": when.replace(" ", "-") }],
    ["a stream", { stream: true }, {}],
  ] as const) {
    test(`chat.internal-error: an internal error ${when}, ${how}: 500, no charge, outcome unknown, and nothing stays reserved`, async () => {
      chatOf(await postChat(gateway.origin, {}));
      const { spent_tokens: spent } = await windowOfNow();
      await forget(gateway);
      faultyWhen = when;
      const failed = await postChat(gateway.origin, { max_tokens: 900, ...fields }, { headers });
      assert.deepEqual([failed.status, failed.code], [500, "INTERNAL"], failed.text);
      assert.deepEqual(
        (await attemptsOf(gateway)).map((row) => [row.state, row.outcome, row.charge_nano_usd]),
        [["settled", "unknown", 0n]],
      );
      assert.equal(gateway.first.calls.length, when === "after dispatch" ? 1 : 0);
      assert.equal((await windowOfNow()).spent_tokens, spent);
      // Of 10,000 tokens all that is not spent is there for others, however often it happens.
      for (let again = 0; again < 12; again += 1)
        assert.equal((await postChat(gateway.origin, { max_tokens: 900, ...fields })).code, "INTERNAL");
    });
  }
}

for (const [when, code] of [
  ["before dispatch", undefined],
  ["after dispatch", "IDEMPOTENT_RESULT_UNAVAILABLE"],
] as const) {
  test(`chat.internal-error: an internal error ${when} ${code === undefined ? "frees the key" : "burns the key"}`, async () => {
    const headers = { "idempotency-key": `again-${when.replace(" ", "-")}` };
    faultyWhen = when;
    assert.equal((await postChat(gateway.origin, {}, { headers })).code, "INTERNAL");
    faultyWhen = null;
    const again = await postChat(gateway.origin, {}, { headers });
    assert.equal(again.code ?? undefined, code, again.text);
  });
}
