// The life of every catalogued speech model, as data: complete, consistent, and the same as the sandbox's independent table.
import assert from "node:assert/strict";
import { test } from "node:test";
import { retirementDate } from "../../sandbox/retired-models.ts";
import type { Feature } from "../../src/contract/features.ts";
import type { SpeechModel } from "../../src/providers/provider.ts";
import { providers } from "../../src/providers/registry.ts";
import { SPEECH_LIST_PRICES } from "../../src/providers/speech-list-prices.ts";
import { defaultFile, NO_LOCAL_SPEECH } from "../../src/config/default-configuration.ts";

/** The sandbox's own model has no provider. Its other models are those of the providers. */
const MODELS = [...providers.values()]
  .filter(({ kind }) => kind !== "sandbox")
  .flatMap(({ kind, models }) => Object.entries(models).map(([name, model]) => ({ kind, name, model })));
const SANDBOX_TABLES = ["assemblyai", "elevenlabs", "openai"] as const;

const isDate = (text: string): boolean =>
  /^\d{4}-\d\d-\d\d$/u.test(text) && new Date(text).toISOString().startsWith(text);
const featuresOf = ({ features }: SpeechModel): readonly string[] =>
  (Object.keys(features) as Feature[]).filter((feature) => features[feature] !== undefined);

test("providers.model-life: every speech model of every kind has a source and days that exist, in their order", () => {
  assert.ok(MODELS.length >= 35);
  for (const { name, model } of MODELS) {
    assert.ok(model.life !== undefined, name);
    const { verifiedOn, source, deprecatedOn, endsOn, redirect } = model.life;
    assert.ok(source.length > 10, name);
    for (const date of [verifiedOn, deprecatedOn, endsOn?.date, redirect?.date])
      assert.ok(date === undefined || isDate(date), `${name} ${date}`);
    assert.ok(deprecatedOn === undefined || endsOn === undefined || deprecatedOn <= endsOn.date, name);
    assert.ok(endsOn === undefined || redirect === undefined, `${name} is either refused or answered by another model`);
  }
});

test("providers.model-life: a speech model's successor is in the catalogue, has no announced end, and lacks what its data lack", () => {
  for (const { kind, name, model } of MODELS) {
    const { redirect, replacedBy = [] } = model.life ?? {};
    for (const successor of replacedBy) {
      const next = providers.get(kind)?.models[successor.model];
      assert.ok(next !== undefined, `${name}: ${successor.model} is not in the catalogue`);
      assert.equal(next.life?.endsOn ?? next.life?.redirect, undefined, `${name}: ${successor.model}`);
      const lacking = featuresOf(model).filter((feature) => !featuresOf(next).includes(feature));
      assert.deepEqual([...successor.lacks].toSorted(), lacking.toSorted(), `${name}: ${successor.model}`);
    }
    if (redirect !== undefined) assert.ok(providers.get(kind)?.models[redirect.model] !== undefined, name);
  }
});

test("providers.model-life, providers.sandbox-retirement: the sandbox ends speech models on the catalogue's days, and no others", () => {
  for (const kind of SANDBOX_TABLES) {
    for (const [name, { life }] of Object.entries(providers.get(kind)?.models ?? {}))
      assert.equal(retirementDate(kind, name), life?.endsOn?.date ?? null, name);
  }
  const elsewhere = MODELS.filter(({ kind }) => !SANDBOX_TABLES.some((each) => each === kind));
  assert.deepEqual(
    elsewhere.filter(({ model }) => model.life?.endsOn !== undefined).map(({ name }) => name),
    [],
  );
});

test("providers.model-life, configuration.default-routes: the first speech target of each provider's key has no announced end", () => {
  for (const [variable, kind] of [
    ["DEEPGRAM_API_KEY", "deepgram"],
    ["ASSEMBLYAI_API_KEY", "assemblyai"],
    ["ELEVENLABS_API_KEY", "elevenlabs"],
    ["OPENAI_API_KEY", "openai"],
    ["GEMINI_API_KEY", "gemini"],
  ] as const) {
    const { data } = defaultFile({ [variable]: "a-key" }, NO_LOCAL_SPEECH);
    const [first] = data.routes?.find(({ id }) => id === "speech")?.targets ?? [];
    assert.ok(typeof first === "object" && first.connection === kind, variable);
    const life = providers.get(kind)?.models[first.model]?.life;
    assert.deepEqual(
      [life === undefined, life?.endsOn, life?.redirect, life?.deprecatedOn],
      [false, undefined, undefined, undefined],
      first.model,
    );
  }
});

test("providers.list-prices: every listed price of speech is that of a catalogued model, with a day and a source", () => {
  for (const [path, { usdPerAudioHour, asOf, source }] of Object.entries(SPEECH_LIST_PRICES)) {
    assert.ok(
      MODELS.some(({ kind, name }) => `${kind}/${name}` === path),
      path,
    );
    assert.match(usdPerAudioHour, /^\d+\.\d+$/u);
    assert.ok(isDate(asOf) && source.length > 10, path);
  }
});
