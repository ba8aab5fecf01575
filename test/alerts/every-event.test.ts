// Every event of the alerts, caused in one gateway and received by real receivers: each once, with a signature that the published code verifies.
import assert from "node:assert/strict";
import { test } from "node:test";
import { sql } from "kysely";
import type { Sandbox } from "../../sandbox/server.ts";
import { alertDestinations } from "../../src/alerts/destinations.ts";
import type { ConfigurationFile } from "../../src/config/schema/file.ts";
import { ALERT_EVENTS, WORKSPACE_ALERT_EVENTS } from "../../src/contract/alerts.ts";
import { newId } from "../../src/contract/ids.ts";
import { HELLO, postChat } from "../harness/chat-client.ts";
import { postForm } from "../harness/client.ts";
import { configurationWith } from "../harness/configuration.ts";
import { KEY, PEPPER, startGateway, type TestGateway } from "../harness/gateway.ts";
import { ended, submit } from "../http/jobs/jobs.ts";
import { pretendInternet } from "../outbound/pretend-internet.ts";
import { alertsOf, OPERATOR_URL, startReceiver } from "./world.ts";

const ACME_URL = "https://acme.example/alerts";
const CHAT_KEY = "key-of-the-app-that-chats-of-alerts";
const JOBS_KEY = "key-of-the-app-with-jobs-of-alerts";
const BROKEN_KEY = "key-of-the-app-with-a-broken-model";

const file = (sandbox: Sandbox): ConfigurationFile => ({
  ...configurationWith(sandbox, {
    scopes: ["transcribe", "jobs", "chat"],
    routes: {
      speech: "dg/nova-3",
      calls: ["oa/gpt-4o-transcribe-diarize", "oa/gpt-transcribe"],
      chat: "oa/gpt-6-luna",
      broken: "el/scribe_v2",
    },
    workspaces: {
      acme: {
        alerts: [{ url: ACME_URL }],
        apps: {
          // One recording of 7.4 s is more than half of it, two are too many.
          notes: {
            route: "speech",
            key: KEY,
            budgets: [{ period: "month", limit_audio_seconds: 14, soft_limit: 0.5 }],
          },
          chat: { key: CHAT_KEY },
          jobs: { route: "speech", key: JOBS_KEY },
          broken: { key: BROKEN_KEY },
        },
      },
    },
  }),
  alerts: [{ url: OPERATOR_URL }],
  alert_thresholds: {
    jobs_failing_min_jobs: 1,
    disk_free_bytes: Number.MAX_SAFE_INTEGER,
    circuit_open_minutes: 1,
  },
});

test("alerts.signature, alerts.once-an-hour, alerts.destination-events: each event that really happens is received once, signed, by the operator, and its own ones by the workspace", async (t) => {
  const internet = pretendInternet();
  const [operator, acme] = [
    await startReceiver(t, internet, "operator.example"),
    await startReceiver(t, internet, "acme.example"),
  ];
  // Behind at first, as a receiver refuses a signature from the future.
  let aheadMs = -61_000;
  const gateway = await startGateway({
    file,
    network: internet,
    now: () => new Date(Date.now() + aheadMs),
    modelClock: () => new Date("2026-11-28T12:00:00Z"),
  });
  t.after(() => gateway.close());
  const { origin, sandbox } = gateway;

  sandbox.addFault({ wire: "openai", fault: { kind: "other_model", name: "gpt-6.1-terra" }, times: 1 });
  assert.equal((await postChat(origin, { messages: HELLO }, { key: CHAT_KEY })).status, 200);
  assert.equal((await postForm(origin)).status, 200);
  assert.equal((await postForm(origin)).status, 402);
  sandbox.addFault({ wire: "deepgram", fault: { kind: "status", status: 400 }, times: 1 });
  const { job_id: job } = await submit(origin, { key: JOBS_KEY });
  assert.equal((await ended(origin, job, JOBS_KEY)).status, "failed");
  sandbox.addFault({ wire: "elevenlabs", fault: { kind: "status", status: 500 } });
  for (let failed = 0; failed < 5; failed += 1) await postForm(origin, { key: BROKEN_KEY });
  // The alerts see it open, and a minute later still open.
  await report(gateway);
  aheadMs = 0;
  await postForm(origin, { key: BROKEN_KEY });
  await giveUpDelivery(gateway);

  const destinations = alertDestinations(gateway.configuration, PEPPER);
  const secretOf = (name: string | null) => destinations.find(({ workspace }) => workspace === name)?.secret ?? "";
  // Throws at the first signature that is wrong.
  const causes = () => ({
    operator: alertsOf(operator, secretOf(null)).map(({ event, cause }) => ({ event, cause })),
    acme: alertsOf(acme, secretOf("acme")).map(({ event, cause }) => ({ event, cause })),
  });
  await report(gateway);
  const first = causes();
  const eventsOf = (received: readonly { readonly event: string }[]) =>
    [...new Set(received.map(({ event }) => event))].toSorted();
  assert.deepEqual(eventsOf(first.operator), ALERT_EVENTS.toSorted());
  assert.deepEqual(eventsOf(first.acme), WORKSPACE_ALERT_EVENTS.toSorted());
  for (const received of [first.operator, first.acme])
    assert.equal(new Set(received.map(({ cause }) => cause)).size, received.length, "no cause twice");
  for (const event of ALERT_EVENTS)
    if (event !== "retirement" && event !== "disk_low")
      assert.equal(first.operator.filter((each) => each.event === event).length, 1, event);

  await report(gateway);
  await report(gateway);
  assert.deepEqual(causes(), first);
});

/** A delivery whose attempts are used up. */
async function giveUpDelivery({ database }: TestGateway): Promise<void> {
  const { id: workspace } = await database.db
    .selectFrom("workspaces")
    .select("id")
    .where("slug", "=", "acme")
    .executeTakeFirstOrThrow();
  await sql`insert into webhook_deliveries (id, workspace_id, event_id, is_test, job_id, job_status, occurred_at, state, ended_by, finished_at, next_attempt_at)
    values (${newId("delivery")}, ${workspace}, ${newId("event")}, false, ${newId("job")}, 'succeeded', patchbay_now(), 'failed', 'attempts', patchbay_now(), null)`.execute(
    database.db,
  );
}

/** Records are complete a moment after their answers, and the gateway's own timers may be delivering already. */
async function report({ app, database }: TestGateway): Promise<void> {
  await app.settled();
  await app.requestLog.flush();
  for (let pending = true; pending; ) {
    await app.alerts.runNow();
    const waiting = database.db.selectFrom("alert_deliveries").select("id").where("state", "=", "pending");
    pending = (await waiting.executeTakeFirst()) !== undefined;
  }
}
