// A change of the configuration made through one process is in force on another one, within 5 s.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { TestGateway } from "../../harness/gateway.ts";
import { call, startAdminGateway } from "./admin.ts";
import { keyOn, PLATFORM, publish, revise, served, targets } from "./set-up.ts";

let here: TestGateway;
let there: TestGateway;
before(async () => {
  here = await startAdminGateway();
  there = await startAdminGateway({ existing: here });
});
after(async () => {
  await there.close();
  await here.close();
});

test("admin.route-two-processes, admin.immediate: what one process publishes, another one serves, notified by the database alone", async () => {
  await publish(here, PLATFORM, { id: "shared", targets: targets(["dg", "nova-3"]) });
  const key = await keyOn(here, "shared");
  const until = async (model: string) => {
    for (let tries = 1; ; tries += 1) {
      const answer = await served(there, key);
      if (answer.model === model) return answer.version;
      assert(tries < 200, "the other process never heard of it");
    }
  };
  assert.equal(await until("nova-3"), 1);
  await revise(here, PLATFORM, "shared", { targets: targets(["dg", "nova-2"]) });
  await call(here, "POST", `${PLATFORM}/routes/shared/publish`, { body: {} });
  assert.equal(await until("nova-2"), 2);
});
