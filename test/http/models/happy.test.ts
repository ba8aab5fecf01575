// GET /v1/models, and one of them: what `model` may be for this key, the same in the list and alone.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { listedModel, modelList } from "../../../src/contract/chat/openai-compatible.ts";
import { get } from "../../harness/client.ts";
import type { ChatGateway } from "../chat/chat-gateway.ts";
import { startModelsGateway } from "./models-gateway.ts";

let gateway: ChatGateway;
before(async () => {
  gateway = await startModelsGateway();
});
after(() => gateway.close());

const PATHS: readonly (readonly [string, string])[] = [
  ["/v1/models/auto", "auto"],
  ["/v1/models/purpose/brief", "purpose/brief"],
  ["/v1/models/purpose%2Fbrief", "purpose/brief"],
];
for (const [path, id] of PATHS) {
  test(`compatible.models-list, compatible.models-get: ${path} is that model, as the list has it`, async () => {
    const { data } = modelList.parse((await get(gateway.origin, "/v1/models")).json);
    assert.deepEqual(
      data.map((model) => model.id),
      ["auto", "purpose/brief"],
    );
    const one = await get(gateway.origin, path);
    assert.equal(one.status, 200, one.text);
    assert.deepEqual(
      listedModel.parse(one.json),
      data.find((model) => model.id === id),
    );
  });
}
