// What GET /v1/models/{id} does not have, and that the one escape it accepts opens no other spelling of a path.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { errorBody } from "../../../src/contract/error-body.ts";
import { documentedErrors, get, send } from "../../harness/client.ts";
import { KEY } from "../../harness/gateway.ts";
import type { ChatGateway } from "../chat/chat-gateway.ts";
import { startModelsGateway } from "./models-gateway.ts";

let gateway: ChatGateway;
before(async () => {
  gateway = await startModelsGateway();
});
after(() => gateway.close());

for (const id of ["gpt-4o", "purpose", "brief", "purpose/off", "purpose/hidden", "purpose/none", "purpose%2Fnone"]) {
  test(`compatible.models-not-found: ${id} is not in the list, and is refused with OpenAI's sentence`, async () => {
    const reply = await get(gateway.origin, `/v1/models/${id}`);
    assert.deepEqual([reply.status, reply.code], [404, "NOT_FOUND"], reply.text);
    const { error } = errorBody.parse(reply.json);
    assert.match(error.message, /^The model does not exist, or you do not have access to it\./u);
    assert.equal(error.param, "model");
    assert(documentedErrors("GET", "/v1/models/:model").includes("NOT_FOUND"));
  });
}

test("compatible.models-not-found, routing.purpose-suggestion: an id that is close to a listed one is refused with that one", async () => {
  for (const id of ["purpose/brie", "purpose%2Fbrie"]) {
    const reply = await get(gateway.origin, `/v1/models/${id}`);
    assert.deepEqual([reply.status, reply.code], [404, "NOT_FOUND"], reply.text);
    assert.match(errorBody.parse(reply.json).error.message, / Did you mean `purpose\/brief`\? /u);
  }
});

const STRANGE = [
  "/v1/models/%61uto",
  "/v1/models/purpose%2fbrief",
  "/v1/models/purpose%2F%62rief",
  "/v1/models/purpose%2Fbrief%2F",
  "/v1/models/purpose%2Fbrief/x",
  "/v1/models/purpose%2F..",
  "/v1/models/purpose%2F..%2Fauto",
  "/v1/models/purpose%252Fbrief",
  "/v1%2Fmodels/purpose%2Fbrief",
  "/v1/models/purpose/%62rief",
  "/v1/transcription%2Fjobs",
];
for (const path of STRANGE) {
  test(`compatible.models-get, api.one-spelling: no other path is spelt with escapes: ${path} leads nowhere`, async () => {
    const reply = await get(gateway.origin, path);
    assert.deepEqual([reply.status, reply.code], [404, "NOT_FOUND"], reply.text);
    assert.match(reply.text, /There is nothing at this path\./u);
  });
}

test("compatible.models-not-found, api.unknown-query: a query that is not accepted and another method are refused as everywhere", async () => {
  for (const path of ["/v1/models/auto", "/v1/models/purpose/brief", "/v1/models/purpose%2Fbrief"])
    assert.equal((await get(gateway.origin, `${path}?x=1`)).code, "INVALID_REQUEST");
  const deleted = await send(`${gateway.origin}/v1/models/auto`, {
    method: "DELETE",
    headers: { authorization: `Bearer ${KEY}` },
  });
  assert.deepEqual([deleted.code, deleted.headers.get("allow")], ["METHOD_NOT_ALLOWED", "GET, HEAD"]);
});
