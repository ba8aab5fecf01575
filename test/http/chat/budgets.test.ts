// Budgets in tokens and money, and what a plan pays.
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { chatOf, postChat, streamChat } from "../../harness/chat-client.ts";
import { detailsOf, get } from "../../harness/client.ts";
import { brand } from "../../../src/contract/ids.ts";
import { forecastBudget } from "../../../src/metering/forecast-budget.ts";
import { readBudgetStates } from "../../../src/metering/read-budgets.ts";
import { until } from "../../harness/until.ts";
import { answer, json } from "../../harness/chat-upstream.ts";
import { attemptsOf, type ChatGateway, forget, startChatGateway } from "./chat-gateway.ts";

const TOKENS_KEY = "key-of-the-app-with-tokens-001";
const MONEY_KEY = "key-of-the-app-with-money-0001";
const PLAN_KEY = "key-of-a-workspace-with-a-plan";
const CREDIT_KEY = "key-of-a-workspace-with-credit";
const BOTH_KEY = "key-of-a-workspace-with-them-both";
const BYOK_KEY = "key-of-a-workspace-with-its-own";
const FREE_KEY = "key-of-a-workspace-without-one";
const NARROW_KEY = "key-of-the-app-with-few-tokens";
const REPORTED_KEY = "key-of-the-app-that-is-reported-01";
const WIDE_KEY = "key-of-the-app-with-more-tokens";
const PRICED_KEY = "key-of-an-app-on-a-priced-model";
const UNPRICED_KEY = "key-of-an-app-on-an-unpriced-1";
const FORECAST_KEY = "key-of-the-app-with-a-forecast1";
const CHEAPER_KEY = "key-of-an-app-on-both-models01";
const PNG = "data:image/png;base64,iVBORw0KGgo=";
const TOOL = { type: "function", function: { name: "weather" } };

let gateway: ChatGateway;
before(async () => {
  gateway = await startChatGateway({
    with: ({ connections: { first } }) => {
      const month = (key: string, limit: object, more: object = {}) => ({
        route: "chat",
        key,
        budgets: [{ period: "month" as const, ...limit }],
        ...more,
      });
      const alone = (key: string, plan?: string) => ({ plan, apps: { app: { route: "chat", key } } });
      const declared = { capabilities: ["chat" as const] };
      return {
        prices: { "openai-compatible/priced": ["1", "10"] },
        connections: { endless: { ...first, models: { priced: declared, unpriced: declared } } },
        routes: {
          priced: "endless/priced",
          unpriced: "endless/unpriced",
          cheaper: ["endless/priced", "endless/unpriced"],
        },
        plans: {
          starter: { monthly_chat_tokens: 300 },
          paid: { credits_usd: "0.01" },
          both: { monthly_chat_tokens: 1_000, credits_usd: "1" },
        },
        workspaces: {
          budgets: {
            apps: {
              tokens: month(TOKENS_KEY, { limit_tokens: 300 }),
              money: month(MONEY_KEY, { limit_usd: "0.0021" }),
            },
          },
          planned: alone(PLAN_KEY, "starter"),
          paying: alone(CREDIT_KEY, "paid"),
          both: alone(BOTH_KEY, "both"),
          byok: { ...alone(BYOK_KEY, "starter"), connections: { first } },
          free: alone(FREE_KEY),
          endless: {
            apps: {
              priced: month(PRICED_KEY, { limit_usd: "1" }, { route: "priced" }),
              unpriced: month(UNPRICED_KEY, { limit_usd: "1" }, { route: "unpriced" }),
              cheaper: month(CHEAPER_KEY, { limit_usd: "0.000001" }, { route: "cheaper" }),
            },
          },
          quotas: {
            apps: {
              narrow: month(NARROW_KEY, { limit_tokens: 100_000 }, { quota: { tokens_per_minute: 23 } }),
              reported: month(REPORTED_KEY, { limit_tokens: 100_000 }, { quota: { tokens_per_minute: 1000 } }),
              forecast: month(FORECAST_KEY, { limit_tokens: 77_777 }),
              wide: month(WIDE_KEY, { limit_tokens: 100_000 }, { quota: { tokens_per_minute: 40 } }),
            },
          },
        },
      };
    },
  });
});
after(() => gateway.close());
beforeEach(async () => {
  await forget(gateway);
  gateway.first.behave(answer);
  gateway.second.behave(answer);
});

test("chat.reserve-and-settle, metering.reserve-chat: input estimate and max_tokens are reserved, reported usage is spent", async () => {
  // "Hello" is estimated at 10 tokens.
  const refused = await postChat(gateway.origin, { max_tokens: 291 }, { key: TOKENS_KEY });
  assert.deepEqual([refused.status, refused.code], [402, "BUDGET_EXCEEDED"]);
  assert.deepEqual(
    { ...detailsOf(refused), resets_at: null },
    { kind: "tokens", period: "month", limit: 300, spent: 0, reserved: 0, requested: 301, resets_at: null },
  );
  assert.equal(gateway.first.calls.length, 0);
  for (let turn = 0; turn < 2; turn += 1)
    assert.equal((await postChat(gateway.origin, { max_tokens: 250 }, { key: TOKENS_KEY })).status, 200);
  // Twice 14 are spent.
  assert.equal((await postChat(gateway.origin, { max_tokens: 263 }, { key: TOKENS_KEY })).code, "BUDGET_EXCEEDED");
  assert.equal((await streamChat(gateway.origin, { max_tokens: 262 }, { key: TOKENS_KEY })).status, 200);
});

test("routing.unaffordable-target: a chat whose first target the budget cannot pay is sent to the next affordable one, also with a key and as a stream", async () => {
  const key = CHEAPER_KEY;
  chatOf(await postChat(gateway.origin, {}, { key }));
  chatOf(await postChat(gateway.origin, {}, { key, headers: { "idempotency-key": "cheaper" } }));
  assert.equal((await streamChat(gateway.origin, {}, { key })).status, 200);
  assert.deepEqual(
    gateway.first.calls.map(({ body }) => body["model"]),
    ["unpriced", "unpriced", "unpriced"],
  );
});

test("budgets.forecast-reserved: what a lease holds for later chats is reserved, and no part of the budget's forecast", async () => {
  chatOf(await postChat(gateway.origin, { max_tokens: 30 }, { key: FORECAST_KEY }));
  const { workspace_id: workspaceId, app_id: appId } = await gateway.database.db
    .selectFrom("budgets")
    .select(["workspace_id", "app_id"])
    .where("limit_tokens", "=", 77_777n)
    .executeTakeFirstOrThrow();
  assert(appId !== null);
  const read = async () => {
    const [budget] = await readBudgetStates(gateway.database.db, brand("workspace", workspaceId), brand("app", appId));
    assert(budget !== undefined && budget.resetsAt !== null);
    // At the end of its window the pace is what was spent.
    return { ...budget, readAt: new Date(budget.resetsAt.getTime() - 1) };
  };
  await until(async () => (await read()).spentTokens > 0n);
  const budget = await read();
  assert.ok(budget.reservedTokens > 0n, "a lease holds tokens in advance");
  assert.equal(forecastBudget(budget)?.tokens, budget.spentTokens);
});

test("metering.reserve-chat: without max_tokens the model's limit is reserved", async () => {
  const refused = await postChat(gateway.origin, {}, { key: TOKENS_KEY });
  assert.equal(detailsOf(refused)["requested"], 1_010);
});

test("chat.undeclared-limit: a priced model without a declared limit is asked for no more than is reserved; an unpriced one keeps its own limit", async () => {
  const sent = async (key: string, fields: object): Promise<unknown> => {
    gateway.first.calls.length = 0;
    assert.equal((await postChat(gateway.origin, fields, { key })).status, 200);
    return gateway.first.calls.map(({ body }) => body["max_tokens"]);
  };
  assert.deepEqual(await sent(PRICED_KEY, {}), [8_192]);
  const [attempt] = await attemptsOf(gateway);
  // "Hello" is estimated at 10 tokens, at 1 USD a million, and each of the answer costs ten times that.
  assert.deepEqual([attempt?.reserved_tokens, attempt?.reserved_nano_usd], [8_202n, 81_930_000n]);
  assert.deepEqual(await sent(PRICED_KEY, { max_tokens: 20_000 }), [20_000]);
  assert.deepEqual(await sent(UNPRICED_KEY, {}), [undefined]);
});

test("chat.reserve-and-settle: money is reserved at the list price and charged by use; failed attempts cost nothing", async () => {
  const refused = await postChat(gateway.origin, { max_tokens: 210 }, { key: MONEY_KEY });
  assert.equal(refused.code, "BUDGET_EXCEEDED");
  // 10 tokens at 1 USD and 210 at 10 USD per million.
  assert.deepEqual([detailsOf(refused)["kind"], detailsOf(refused)["requested"]], ["usd", "0.00211"]);
  gateway.first.behave((call) => json(call, 500, {}));
  gateway.second.behave((call) => json(call, 500, {}));
  for (let turn = 0; turn < 3; turn += 1)
    assert.equal(
      (await postChat(gateway.origin, { max_tokens: 100 }, { key: MONEY_KEY })).code,
      "all_providers_exhausted",
    );
  const limits = (await get(gateway.origin, "/v1/melimits", MONEY_KEY)).json as {
    budgets: readonly { limit_usd: string; limit_tokens: number | null; remaining_tokens: number | null }[];
  };
  const [budget] = limits.budgets;
  assert.deepEqual([budget?.limit_usd, budget?.limit_tokens, budget?.remaining_tokens], ["0.0021", null, null]);
});

const METERED_ONLY: readonly (readonly [string, object])[] = [
  ["tools", { tools: [TOOL] }],
  ["JSON mode", { response_format: { type: "json_object" } }],
  ["a JSON schema", { response_format: { type: "json_schema", json_schema: { name: "a", schema: {} } } }],
  ["vision", { messages: [{ role: "user", content: [{ type: "image_url", image_url: { url: PNG } }] }] }],
  [
    "audio",
    { messages: [{ role: "user", content: [{ type: "input_audio", input_audio: { data: "AAAA", format: "wav" } }] }] },
  ],
];

for (const [name, fields] of METERED_ONLY) {
  test(`chat.plan-allowance, budgets.plan-credits: ${name} needs credits or BYOK, however much of the allowance is left; without a plan it needs neither`, async () => {
    gateway.first.behave((call) => json(call, 200, jsonAnswer));
    const body = { max_tokens: 50, ...fields };
    const refused = await postChat(gateway.origin, body, { key: PLAN_KEY });
    assert.deepEqual([refused.status, refused.code], [402, "CREDITS_REQUIRED"], refused.text);
    assert.deepEqual(await foretold(body, PLAN_KEY), [402, "CREDITS_REQUIRED"]);
    assert.equal(gateway.first.calls.length, 0);
    for (const key of [CREDIT_KEY, BYOK_KEY, FREE_KEY]) {
      assert.deepEqual(await foretold(body, key), [200, null]);
      assert.equal((await postChat(gateway.origin, body, { key })).status, 200, key);
    }
  });
}

/** The outcome that a dry run reports. */
async function foretold(body: object, key: string): Promise<readonly unknown[]> {
  const reply = await postChat(gateway.origin, { ...body, dry_run: true }, { key });
  const { outcome } = reply.json as { outcome: { status: number; code: string | null } };
  return [outcome.status, outcome.code];
}

const jsonAnswer = {
  id: "c",
  object: "chat.completion",
  created: 1,
  model: "m",
  choices: [{ index: 0, message: { role: "assistant", content: "{}" }, finish_reason: "stop" }],
  usage: { prompt_tokens: 11, completion_tokens: 3, total_tokens: 14 },
};

test("chat.plan-allowance, budgets.plan-allowance: plain chat draws on the monthly allowance and costs no money; beyond it, it needs credits", async () => {
  chatOf(await postChat(gateway.origin, { max_tokens: 250 }, { key: PLAN_KEY }));
  const [attempt] = await attemptsOf(gateway);
  assert.deepEqual(
    [attempt?.billing_class, attempt?.charge_nano_usd, attempt?.input_tokens, attempt?.output_tokens],
    ["metered", 0n, 11n, 3n],
  );
  const allowance = await gateway.database.db
    .selectFrom("budget_windows")
    .innerJoin("budgets", "budgets.id", "budget_windows.budget_id")
    .select(["spent_tokens"])
    .where("kind", "=", "allowance")
    .execute();
  assert.deepEqual(
    allowance.map((row) => row.spent_tokens),
    [14n],
  );
  // Of 300, 14 are used: 10 and 277 do not fit any more.
  assert.deepEqual(await foretold({ max_tokens: 277 }, PLAN_KEY), [402, "CREDITS_REQUIRED"]);
  assert.deepEqual(await foretold({ max_tokens: 276 }, PLAN_KEY), [200, null]);
  assert.equal((await postChat(gateway.origin, { max_tokens: 277 }, { key: PLAN_KEY })).code, "CREDITS_REQUIRED");
  assert.equal((await postChat(gateway.origin, { max_tokens: 276 }, { key: PLAN_KEY })).status, 200);
});

test("budgets.dry-run: a dry run reports the budget's refusal, whatever leases hold in advance, and reserves nothing", async () => {
  chatOf(await postChat(gateway.origin, { max_tokens: 100 }, { key: TOKENS_KEY }));
  await gateway.app.settled();
  const windows = () => gateway.database.db.selectFrom("budget_windows").selectAll().orderBy("budget_id").execute();
  const before = await windows();
  const usage = (await get(gateway.origin, "/v1/usage", TOKENS_KEY)).json as { budgets: { spent_tokens: number }[] };
  // The question is estimated at 10.
  const most = 300 - 10 - (usage.budgets[0]?.spent_tokens ?? 0);
  assert.deepEqual(await foretold({ max_tokens: most + 1 }, TOKENS_KEY), [402, "BUDGET_EXCEEDED"]);
  assert.deepEqual(await foretold({ max_tokens: most }, TOKENS_KEY), [200, null]);
  assert.deepEqual(await foretold({ max_tokens: 300 }, MONEY_KEY), [402, "BUDGET_EXCEEDED"]);
  assert.deepEqual(await windows(), before);
  const refused = await postChat(gateway.origin, { max_tokens: most + 1 }, { key: TOKENS_KEY });
  assert.equal(refused.code, "BUDGET_EXCEEDED");
  assert.equal((await postChat(gateway.origin, { max_tokens: most }, { key: TOKENS_KEY })).status, 200);
});

test("metering.lease-reclaim-all-payers: a chat with an idempotency key is charged no credits while an idle lease holds the allowance that would pay for it", async () => {
  chatOf(await postChat(gateway.origin, { max_tokens: 400 }, { key: BOTH_KEY }));
  await forget(gateway);
  const headers = { "idempotency-key": "of-the-allowance" };
  chatOf(await postChat(gateway.origin, { max_tokens: 900 }, { key: BOTH_KEY, headers }));
  assert.deepEqual(
    (await attemptsOf(gateway)).map((row) => [row.outcome, row.charge_nano_usd]),
    [["succeeded", 0n]],
  );
});

test("budgets.plan-allowance: with credits, what the allowance does not cover is charged to them, and never more than there are", async () => {
  chatOf(await postChat(gateway.origin, { max_tokens: 100 }, { key: CREDIT_KEY }));
  const [attempt] = await attemptsOf(gateway);
  assert.equal(attempt?.charge_nano_usd, 41_000n);
  // 0.01 USD is 999 tokens of output and no more.
  assert.equal((await postChat(gateway.origin, { max_tokens: 1_000 }, { key: CREDIT_KEY })).code, "CREDITS_REQUIRED");
});

test("providers.byok-replaces: an own account is provider-billed: no charge, the list price is recorded", async () => {
  chatOf(await postChat(gateway.origin, { max_tokens: 100, tools: [TOOL] }, { key: BYOK_KEY }));
  const [attempt] = await attemptsOf(gateway);
  assert.deepEqual([attempt?.billing_class, attempt?.charge_nano_usd], ["provider_billed", 0n]);
  assert((attempt?.estimate_nano_usd ?? 0n) > 0n);
});

test("chat.token-quota, quotas.token-correction: tokens_per_minute counts what an answer without max_tokens used, not only what was asked", async () => {
  chatOf(await postChat(gateway.origin, {}, { key: NARROW_KEY }));
  // 14 are used, and the next asks for 10.
  const refused = await postChat(gateway.origin, {}, { key: NARROW_KEY });
  assert.deepEqual([refused.status, refused.code], [429, "RATE_LIMITED"]);
  assert.match(refused.headers.get("ratelimit") ?? "", /^"tokens";r=0;t=(5\d|60)$/);
  const dry = await postChat(gateway.origin, { dry_run: true }, { key: NARROW_KEY });
  const { outcome } = dry.json as { outcome: unknown };
  assert.deepEqual([dry.status, outcome], [200, { status: 429, code: "RATE_LIMITED", position: null }]);
  assert.equal(gateway.first.calls.length, 1);
});

test("chat.token-quota, quotas.rate-limit-fields: an answer reports the tokens that are left, a stream as it begins", async () => {
  const key = REPORTED_KEY;
  const policy = '"tokens";q=1000;w=60;qu="tokens"';
  // 10 of input; the rest of what was set aside comes back.
  const plain = await postChat(gateway.origin, { max_tokens: 90 }, { key });
  assert.deepEqual([plain.headers.get("ratelimit-policy"), leftIn(plain)], [policy, 1_000 - 14]);
  const streamed = await streamChat(gateway.origin, { max_tokens: 90 }, { key });
  assert.deepEqual([streamed.headers.get("ratelimit-policy"), leftIn(streamed)], [policy, 1_000 - 14 - 100]);
  const compatible = { path: "/v1/chat/completions", key };
  const completion = await postChat(gateway.origin, { model: "auto", max_tokens: 90 }, compatible);
  assert.deepEqual([completion.status, completion.headers.get("ratelimit-policy")], [200, policy]);
  assert.ok(leftIn(completion) < 1_000 - 28);
});

test("chat.token-quota, quotas.token-correction: tokens that were reserved for an answer and not used are free again, all of them after a failed call", async () => {
  chatOf(await postChat(gateway.origin, { max_tokens: 30 }, { key: WIDE_KEY }));
  gateway.first.behave((call) => json(call, 500, {}));
  gateway.second.behave((call) => json(call, 500, {}));
  assert.equal((await postChat(gateway.origin, { max_tokens: 10 }, { key: WIDE_KEY })).code, "all_providers_exhausted");
  gateway.first.behave(answer);
  chatOf(await postChat(gateway.origin, { max_tokens: 15 }, { key: WIDE_KEY }));
});

function leftIn({ headers }: { readonly headers: Headers }): number {
  const found = /^"tokens";r=(\d+);t=(?:5\d|60)$/.exec(headers.get("ratelimit") ?? "");
  assert(found !== null, headers.get("ratelimit") ?? "no field");
  return Number(found[1]);
}
