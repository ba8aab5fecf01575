// Tenancy of GET /v1/models and of one of them: a key sees the purposes of its own app and no others.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { modelList } from "../../../src/contract/chat/openai-compatible.ts";
import { type Answer, get } from "../../harness/client.ts";
import { OTHER_KEY } from "../../harness/gateway.ts";
import type { ChatGateway } from "../chat/chat-gateway.ts";
import { startModelsGateway } from "./models-gateway.ts";

let gateway: ChatGateway;
before(async () => {
  gateway = await startModelsGateway();
});
after(() => gateway.close());

const withoutRequestId = (answer: Answer): string =>
  answer.text.replaceAll(answer.headers.get("x-request-id") ?? "-", "req");

test("compatible.models-not-found: another app's purpose looks like one that does not exist, byte for byte", async () => {
  const { data } = modelList.parse((await get(gateway.origin, "/v1/models", OTHER_KEY)).json);
  assert.deepEqual(
    data.map(({ id }) => id),
    ["auto", "purpose/theirs"],
  );
  for (const spelt of ["purpose/", "purpose%2F"]) {
    const own = await get(gateway.origin, `/v1/models/${spelt}theirs`, OTHER_KEY);
    assert.equal(own.status, 200, own.text);
    const foreign = await get(gateway.origin, `/v1/models/${spelt}theirs`);
    const missing = await get(gateway.origin, `/v1/models/${spelt}unlisted`);
    assert.deepEqual([foreign.status, foreign.code], [404, "NOT_FOUND"]);
    assert.equal(withoutRequestId(foreign), withoutRequestId(missing));
  }
});

test("compatible.models-authentication: without a key the answer is 401, whatever the path names", async () => {
  for (const path of ["auto", "gpt-4o", "purpose/brief", "purpose%2Fbrief", "purpose%2Fnone"]) {
    const reply = await get(gateway.origin, `/v1/models/${path}`, null);
    assert.deepEqual([reply.status, reply.code], [401, "UNAUTHENTICATED"], path);
  }
});
