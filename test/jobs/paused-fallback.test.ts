// Targets that are paused by hand while another is called [jobs.paused-target]: none of them is fallen back to.
import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";
import type { GatewayServices } from "../../src/gateway/services.ts";
import { detailsOf, postForm } from "../harness/client.ts";
import { OTHER_KEY, standardFile, startGateway, type TestGateway } from "../harness/gateway.ts";
import { shiftClock } from "../harness/postgres/database.ts";
import { pauseIn, resumeIn } from "../harness/pause.ts";
import { until } from "../harness/until.ts";
import { offerLapsed } from "../../src/jobs/sweep.ts";
import { ended, poll, submit } from "../http/jobs/jobs.ts";
import { call, errorIn, samples, speak, START } from "../http/realtime/setup.ts";

let gateway: TestGateway;
/** Done while Deepgram is asked. */
let duringCall: () => Promise<unknown> = async () => undefined;
const interrupted = (services: GatewayServices): GatewayServices => ({
  ...services,
  providers: new Map(
    [...services.providers].map(([kind, provider]) => {
      if (kind !== "deepgram") return [kind, provider];
      const transcribe: typeof provider.transcribe = async (...asked) => {
        await duringCall();
        return provider.transcribe(...asked);
      };
      const { stream: real } = provider;
      assert.ok(real !== undefined);
      const stream: typeof real = async function* (...asked) {
        await duringCall();
        yield* real(...asked);
      };
      return [kind, { ...provider, transcribe, stream }];
    }),
  ),
});
before(async () => {
  gateway = await startGateway({
    wrapGateway: interrupted,
    file: (sandbox) => {
      const { connections = [], routes = [], workspaces = [], ...rest } = standardFile(sandbox);
      // Nothing listens there.
      const nowhere = { id: "nowhere", kind: "deepgram" as const, api_key: "s", base_url: "http://127.0.0.1:9" };
      const live = { id: "live", targets: ["nowhere", "dg"].map((connection) => ({ connection, model: "nova-3" })) };
      const [acme, other] = workspaces;
      assert.ok(acme !== undefined && other !== undefined);
      const apps = (other.apps ?? []).map((each) => ({ ...each, route: "live" }));
      return {
        ...rest,
        connections: [...connections, nowhere],
        routes: [...routes, live],
        workspaces: [acme, { ...other, apps }],
      };
    },
  });
});
after(() => gateway.close());
afterEach(async () => {
  duringCall = async () => undefined;
  gateway.sandbox.clearFaults();
  gateway.sandbox.clearCalls();
  await shiftClock(gateway.database, 0);
  await resumeIn(gateway);
});
const wires = () => gateway.sandbox.calls.map(({ wire }) => wire);

test("jobs.paused-target: a target that is paused while the one before it is called is not called", async () => {
  const { origin, sandbox } = gateway;
  sandbox.addFault({ wire: "deepgram", times: 1, fault: { kind: "status", status: 503 } });
  duringCall = () => pauseIn(gateway, "oa");
  const answer = await postForm(origin);
  assert.deepEqual([answer.status >= 500, wires()], [true, ["deepgram"]], JSON.stringify(detailsOf(answer)));
});

test("jobs.paused-target: the same holds in a live session whose first socket did not open", async () => {
  duringCall = () => pauseIn(gateway, "dg");
  const caller = await call(gateway.origin, { key: OTHER_KEY });
  await speak(caller, START, samples().subarray(0, 32_000));
  await caller.closed;
  assert.deepEqual([errorIn(caller).code, wires()], ["NO_HEALTHY_PROVIDER", []]);
});

for (const when of ["before", "while"] as const)
  test(`jobs.paused-target: a job whose other target was paused ${when} its first one failed waits for it, and calls only that`, async () => {
    const { origin, sandbox, database, app } = gateway;
    sandbox.addFault({ wire: "deepgram", times: 1, fault: { kind: "status", status: 503 } });
    if (when === "before") await pauseIn(gateway, "oa");
    else duringCall = () => pauseIn(gateway, "oa");
    const { job_id: id } = await submit(origin);
    await until(async () => {
      const row = await database.db.selectFrom("jobs").select("laid_aside").where("id", "=", id).executeTakeFirst();
      return row?.laid_aside === 1 || (await poll(origin, id)).finished_at !== null;
    });
    assert.deepEqual([(await poll(origin, id)).status, wires()], ["processing", ["deepgram"]]);
    await resumeIn(gateway);
    await shiftClock(database, 301);
    await offerLapsed(app.jobs);
    assert.equal((await ended(origin, id)).status, "succeeded");
    assert.deepEqual(wires(), ["deepgram", "openai"]);
  });
