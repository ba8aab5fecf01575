// Who may read GET /v1/requests/{id}.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { newId } from "../../../src/contract/ids.ts";
import { type Answer, get, postForm } from "../../harness/client.ts";
import { KEY, OTHER_KEY } from "../../harness/gateway.ts";
import type { ChatGateway } from "../chat/chat-gateway.ts";
import { idOf, NARROW_KEY, POOR_KEY, recordOf, startRecordGateway } from "./records.ts";

let gateway: ChatGateway;
let id = "";
before(async () => {
  gateway = await startRecordGateway();
  const answer = await postForm(gateway.origin);
  await recordOf(gateway, answer);
  id = idOf(answer);
});
after(() => gateway.close());

const withoutRequestId = (answer: Answer): string =>
  answer.text.replaceAll(answer.headers.get("x-request-id") ?? "-", "req");
const read = (which: string, key: string): Promise<Answer> => get(gateway.origin, `/v1/requests/${which}`, key);

test("requests.same-app: any key of the app reads a record, whichever key sent the request", async () => {
  assert.equal((await read(id, KEY)).status, 200);
  assert.equal((await read(id, NARROW_KEY)).status, 200);
});

test("requests.foreign: another app's and another workspace's record is the 404 of one that does not exist, byte for byte", async () => {
  for (const key of [OTHER_KEY, POOR_KEY]) {
    const [foreign, missing] = [await read(id, key), await read(newId("request"), key)];
    assert.deepEqual([foreign.status, foreign.code], [404, "NOT_FOUND"]);
    assert.equal(withoutRequestId(foreign), withoutRequestId(missing));
    for (const odd of ["x", "%27--", "req_", id.toUpperCase()]) {
      const answer = await read(odd, key);
      if (answer.code === "NOT_FOUND") assert.equal(answer.status, 404);
    }
  }
});

test("requests.needs-key: without a valid key nothing can be read", async () => {
  for (const key of ["", "svc_live_nothing", `${KEY}x`]) assert.equal((await read(id, key)).status, 401);
});
