// The life of every catalogued chat model, as data: complete, consistent, and the same as the sandbox's independent table.
import assert from "node:assert/strict";
import { test } from "node:test";
import { answeringModel, BEFORE_ANY_RETIREMENT, isRetired, retirementDate } from "../../../sandbox/retired-models.ts";
import { CHAT_MODELS } from "../../../src/providers/catalog.ts";
import { CHAT_LIST_PRICES } from "../../../src/providers/chat-list-prices.ts";
import type { CataloguedChatModel } from "../../../src/providers/chat/chat-provider.ts";

const KINDS = ["openai", "anthropic", "gemini"] as const;
const MODELS = KINDS.flatMap((kind) =>
  Object.entries(CHAT_MODELS[kind] ?? {}).map(([name, model]) => ({ kind, name, model })),
);

const isDate = (text: string): boolean =>
  /^\d{4}-\d\d-\d\d$/u.test(text) && new Date(text).toISOString().startsWith(text);
const capabilities = ({ features, preferences }: CataloguedChatModel): readonly string[] => [
  ...features,
  ...preferences,
];

test("providers.model-life: every chat model has a source and days that exist, in their order", () => {
  assert.ok(MODELS.length >= 30);
  for (const { name, model } of MODELS) {
    const { verifiedOn, source, deprecatedOn, endsOn, redirect } = model.life;
    assert.ok(source.length > 10, name);
    for (const date of [verifiedOn, deprecatedOn, endsOn?.date, redirect?.date])
      assert.ok(date === undefined || isDate(date), `${name} ${date}`);
    assert.ok(deprecatedOn === undefined || endsOn === undefined || deprecatedOn <= endsOn.date, name);
    assert.ok(endsOn === undefined || redirect === undefined, `${name} is either refused or answered by another model`);
  }
});

test("providers.model-life: a successor is a catalogued model without an announced end, and lacks what its data lack", () => {
  for (const { kind, name, model } of MODELS) {
    for (const successor of model.life.replacedBy ?? []) {
      const next = CHAT_MODELS[kind]?.[successor.model];
      assert.ok(next !== undefined, `${name}: ${successor.model} is not in the catalogue`);
      assert.equal(next.life.endsOn ?? next.life.redirect, undefined, `${name}: ${successor.model}`);
      const lacking = capabilities(model).filter((each) => !capabilities(next).includes(each));
      assert.deepEqual(successor.lacks, lacking, name);
    }
    const { redirect } = model.life;
    if (redirect !== undefined) assert.ok(CHAT_MODELS[kind]?.[redirect.model] !== undefined, name);
  }
});

test("providers.list-prices: a list price is of a catalogued model, and has a day and a source", () => {
  for (const [name, price] of Object.entries(CHAT_LIST_PRICES)) {
    assert.ok(
      MODELS.some((each) => `${each.kind}/${each.name}` === name),
      name,
    );
    for (const amount of [price.usdPerMillionInputTokens, price.usdPerMillionOutputTokens])
      assert.match(amount, /^\d+(?:\.\d\d)?$/u, name);
    assert.ok(isDate(price.asOf) && price.source.startsWith("https://"), name);
  }
});

test("providers.sandbox-retirement: the sandbox ends and redirects the catalogue's models on the catalogue's days", () => {
  for (const { kind, name, model } of MODELS) {
    const { endsOn, redirect } = model.life;
    if (kind !== "gemini") assert.equal(retirementDate(kind, name), endsOn?.date ?? null, name);
    if (kind !== "gemini") assert.ok(!isRetired(kind, name, BEFORE_ANY_RETIREMENT), name);
    if (kind !== "gemini") continue;
    const day = Date.parse(redirect?.date ?? "2030-01-01");
    assert.equal(answeringModel(name, day - 1), name);
    assert.equal(answeringModel(name, day), redirect?.model ?? name);
  }
});
