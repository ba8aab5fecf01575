// Models that are known and not offered: their data, what a declaration changes, and what a route that names one is told.
import assert from "node:assert/strict";
import { test } from "node:test";
import { checkRoute } from "../../src/config/check-route.ts";
import { speechModel } from "../../src/directory/speech-model.ts";
import { storedConnection } from "../../src/directory/stored-schemas.ts";
import { providers } from "../../src/providers/registry.ts";
import { sandbox } from "../../src/providers/sandbox/sandbox.ts";

const NOT_OFFERED = [...providers.values()].flatMap((provider) =>
  Object.entries(provider.notOffered ?? {}).map(([name, model]) => ({ provider, name, model })),
);

test("providers.not-offered: each has a day, a reason and evidence with its day, and is in no catalogue", () => {
  assert.deepEqual(
    NOT_OFFERED.map(({ provider, name }) => `${provider.kind}/${name}`),
    [
      "gemini/gemini-3.5-transcribe-live",
      "openai-compatible/voxtral-mini-transcribe-realtime-3",
      "openai-compatible/voxtral-mini-transcribe-realtime-3-0",
    ],
  );
  for (const { provider, name, model } of NOT_OFFERED) {
    assert.match(model.notOffered?.since ?? "", /^\d{4}-\d\d-\d\d$/u, name);
    assert.ok((model.notOffered?.reason ?? "").length > 20, name);
    assert.match(model.life.verifiedOn, /^\d{4}-\d\d-\d\d$/u, name);
    assert.ok(model.life.source.length > 10, name);
    assert.equal(provider.models[name], undefined, name);
    assert.equal(sandbox.models[`${provider.kind}/${name}`], undefined, name);
  }
});

test("providers.not-offered: a declaration does not offer it; another server's model of that name is an unknown one", () => {
  for (const { provider, name, model } of NOT_OFFERED) {
    const models = { [name]: { capabilities: ["audio_input"], features: { streaming: true } } };
    const declared = storedConnection.parse({ models }).models[name];
    assert.deepEqual(speechModel(provider, name, declared, {})?.notOffered, model.notOffered, name);
    const elsewhere = speechModel(provider, name, declared, { dialect: "vllm" });
    assert.equal(elsewhere?.notOffered === undefined, provider.kind === "openai-compatible", name);
  }
});

test("providers.not-offered: a route that names one without a declaration is refused with the day and the reason", () => {
  for (const { provider, name, model } of NOT_OFFERED) {
    const connections = new Map([["own", { path: [], value: { id: "own", kind: provider.kind } }]]);
    const value = { id: "live", targets: [{ connection: "own", model: name }] };
    const [fault] = checkRoute({ path: [], value }, { connections, routes: new Map() });
    assert.ok(fault?.message.includes(`not offered here since ${model.notOffered?.since}: `), fault?.message);
    assert.deepEqual(fault?.path, ["targets", 0, "model"]);
  }
});
