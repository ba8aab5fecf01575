// A recording whose time is up. A target that is called then could not answer, would be paid for nothing and would count as failed, and
// what is certain of the targets before it would become unknown.
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { envelopeOf, postForm, speech } from "../../../harness/client.ts";
import { standardFile, startGateway, type TestGateway } from "../../../harness/gateway.ts";

const TIMEOUT_SECONDS = 60;

let gateway: TestGateway;
before(async () => {
  gateway = await startGateway({
    file: (sandbox) => ({ ...standardFile(sandbox), limits: { sync_timeout_seconds: TIMEOUT_SECONDS } }),
    // The first target takes all the time that there is.
    wrapGateway: (services) => ({
      ...services,
      now: () => new Date(services.now().getTime() + (gateway.sandbox.callCount > 0 ? TIMEOUT_SECONDS * 1000 : 0)),
    }),
  });
});
after(() => gateway.close());
beforeEach(() => {
  gateway.sandbox.clearCalls();
  gateway.sandbox.clearFaults();
});

test("routing.deadline: a first target that fails definitely as the time is up: no other is called, and the request may be sent again", async () => {
  gateway.sandbox.addFault({ wire: "deepgram", fault: { kind: "status", status: 500 } });
  const headers = { "idempotency-key": "late" };
  const refused = await postForm(gateway.origin, { file: speech(), headers });
  assert.deepEqual([refused.status, refused.code, gateway.sandbox.callCount], [503, "NO_HEALTHY_PROVIDER", 1]);
  gateway.sandbox.clearCalls();
  gateway.sandbox.clearFaults();
  envelopeOf(await postForm(gateway.origin, { file: speech(), headers }));
});

test("transcription.empty-believed: an empty answer that comes as the time is up is delivered with its warning, and not doubted", async () => {
  gateway.sandbox.addFault({ wire: "deepgram", fault: { kind: "empty" } });
  const { content, warnings } = envelopeOf(await postForm(gateway.origin, { file: speech() }));
  assert.deepEqual([content, warnings.map(({ code }) => code)], ["", ["EMPTY_TRANSCRIPT"]]);
  assert.equal(gateway.sandbox.callCount, 1);
});
