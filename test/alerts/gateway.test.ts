// Alerts of a whole gateway: from the configuration file and a request to the receiver.
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { Sandbox } from "../../sandbox/server.ts";
import { alertDestinations } from "../../src/alerts/destinations.ts";
import type { ConfigurationFile } from "../../src/config/schema/file.ts";
import { HELLO, postChat } from "../harness/chat-client.ts";
import { postForm } from "../harness/client.ts";
import { configurationWith } from "../harness/configuration.ts";
import { KEY, OTHER_KEY, PEPPER, startGateway, type TestGateway } from "../harness/gateway.ts";
import { shiftClock } from "../harness/postgres/database.ts";
import { pretendInternet } from "../outbound/pretend-internet.ts";
import { ended, submit } from "../http/jobs/jobs.ts";
import { scrape } from "../telemetry/scrape.ts";
import { alertsOf, OPERATOR_URL, startReceiver } from "./world.ts";

const ACME_SECRET = `whsec_${Buffer.from(Array.from({ length: 32 }, (_, index) => (index * 37 + 11) % 256)).toString("base64")}`;
const ACME_URL = "https://acme.example/alerts?token=of-acme";

function file(sandbox: Sandbox): ConfigurationFile {
  const parts = configurationWith(sandbox, {
    scopes: ["transcribe", "jobs"],
    prices: { "deepgram/nova-3": "3.60" },
    routes: { speech: "dg/nova-3" },
    workspaces: {
      acme: {
        alerts: [{ url: ACME_URL, secret: ACME_SECRET }],
        apps: { notes: { key: KEY, budgets: [{ period: "month", limit_audio_seconds: 1 }] } },
      },
      other: {
        alerts: [{ url: "https://other.example/alerts" }],
        apps: { app: { keys: { "other-key": OTHER_KEY } } },
      },
    },
  });
  return {
    ...parts,
    alerts: [{ url: OPERATOR_URL }],
    alert_thresholds: { jobs_failing_min_jobs: 1, disk_free_bytes: 0 },
  };
}

async function openGateway(t: TestContext) {
  const internet = pretendInternet();
  const receivers = {
    operator: await startReceiver(t, internet, "operator.example"),
    acme: await startReceiver(t, internet, "acme.example"),
    other: await startReceiver(t, internet, "other.example"),
  };
  const gateway = await startGateway({ file, network: internet });
  t.after(() => gateway.close());
  const secrets = Object.fromEntries(
    alertDestinations(gateway.configuration, PEPPER).map(({ workspace, secret }) => [workspace ?? "operator", secret]),
  );
  const received = (name: keyof typeof receivers) => {
    const alerts = alertsOf(receivers[name], secrets[name] ?? "");
    return alerts.map(({ event, workspace }) => [event, workspace]);
  };
  return { gateway, internet, received, secrets };
}

test("alerts.budget-exhausted, alerts.once-an-hour, alerts.secrecy: who pays hears once that a request was refused, the operator too, another workspace never", async (t) => {
  const { gateway, internet, received, secrets } = await openGateway(t);
  const { status } = await postForm(gateway.origin);
  assert.equal(status, 402);
  // The record of a request is complete a moment after its answer.
  while (received("acme").length === 0) await report(gateway);
  assert.equal((await postForm(gateway.origin)).status, 402);
  await recordWritten(gateway);
  await report(gateway);
  const expected = [["budget_exhausted", "acme"]];
  assert.deepEqual([received("acme"), received("operator"), received("other")], [expected, expected, []]);
  assert.equal(secrets["acme"], ACME_SECRET);

  // Another process, after a restart: it knows what was reported.
  const restarted = await startGateway({ file, network: internet, existing: gateway });
  t.after(() => restarted.close());
  assert.equal((await postForm(restarted.origin)).status, 402);
  await recordWritten(restarted);
  await report(restarted);
  assert.deepEqual(received("acme"), expected);

  const { text } = await scrape(gateway.adminOrigin);
  assert.match(text, /^svc_alerts_total\{event="budget_exhausted"\} 2$/mu);
  assert.match(text, /^svc_alert_attempts_total\{outcome="delivered"\} 2$/mu);
  const logs = [...gateway.logs, ...restarted.logs].join("\n");
  for (const hidden of [...Object.values(secrets), "token-of-the-operator", "of-acme"])
    assert.ok(!logs.includes(hidden), "neither secrets nor addresses are in the log");
  const stored = await gateway.database.db.selectFrom("alert_deliveries").selectAll().execute();
  for (const hidden of [...Object.values(secrets), "token-of-the-operator", "of-acme"])
    assert.ok(!JSON.stringify(stored).includes(hidden), "nor in the database");
  const events = await gateway.database.db.selectFrom("webhook_events").select("id").execute();
  assert.deepEqual(events, [], "an alert is no event of the API");
});

test("alerts.jobs-failing, alerts.workspace: failed jobs are reported to their workspace and the operator, again after an hour if more failed", async (t) => {
  const { gateway, received } = await openGateway(t);
  const fail = async () => {
    gateway.sandbox.addFault({ wire: "deepgram", fault: { kind: "status", status: 400 }, times: 1 });
    const { job_id: job } = await submit(gateway.origin, { key: OTHER_KEY });
    assert.equal((await ended(gateway.origin, job, OTHER_KEY)).status, "failed");
  };
  const expected = [["jobs_failing", "other"]];
  await fail();
  await report(gateway);
  await report(gateway);
  assert.deepEqual([received("other"), received("operator"), received("acme")], [expected, expected, []]);
  await shiftClock(gateway.database, 3_601);
  await report(gateway);
  assert.deepEqual(received("other"), expected, "no job failed since");
  await fail();
  await report(gateway);
  assert.deepEqual(received("other"), [...expected, ...expected]);
});

test("alerts.retirement: a loss is reported to the operator at 90, 30 and 7 days, each once over restarts, with route, feature, date and the target that keeps it", async (t) => {
  const internet = pretendInternet();
  const operator = await startReceiver(t, internet, "operator.example");
  const own = await startReceiver(t, internet, "acme.example");
  const ending = (sandbox: Sandbox): ConfigurationFile => ({
    ...configurationWith(sandbox, {
      scopes: ["transcribe"],
      connections: { dg: "deepgram" },
      routes: { calls: ["oa/gpt-4o-transcribe-diarize", "oa/gpt-transcribe"] },
      workspaces: { acme: { alerts: [{ url: ACME_URL }], apps: { notes: { key: KEY } } } },
    }),
    alerts: [{ url: OPERATOR_URL, events: ["retirement"] }],
  });
  const first = await startGateway({ file: ending, network: internet });
  t.after(() => first.close());
  const secret = alertDestinations(first.configuration, PEPPER)[0]?.secret ?? "";
  const losses = () => alertsOf(operator, secret).filter(({ details }) => details["feature"] === "diarization");
  const reported: string[] = [];
  for (const day of [
    "2026-11-27",
    "2026-11-28",
    "2026-12-10",
    "2027-01-27",
    "2027-02-19",
    "2027-02-25",
    "2027-03-01",
  ]) {
    const before = losses().length;
    const modelClock = () => new Date(`${day}T12:00:00Z`);
    const gateway = await startGateway({ file: ending, network: internet, existing: first, modelClock });
    await report(gateway);
    await report(gateway);
    await gateway.close();
    for (const { details } of losses().slice(before)) reported.push(`${day} ${String(details["days_left"])}`);
  }
  assert.deepEqual(reported, ["2026-11-28 90", "2027-01-27 30", "2027-02-19 7"]);
  const [loss] = losses();
  assert.deepEqual(
    [loss?.cause, loss?.workspace, loss?.details["route"], loss?.details["date"], loss?.details["apps"]],
    ["retirement/2027-02-26/platform/calls/diarization/90", null, "calls", "2027-02-26", ["notes"]],
  );
  assert.match(
    loss?.summary ?? "",
    /^On 2027-02-26 route `calls` can no longer deliver diarization: .*`oa\/gpt-4o-transcribe-diarize`.* In its place: dg\/\S+/u,
  );
  assert.deepEqual(own.received, [], "the operator alone is told");
});

test("alerts.model-substitution: an answer by another model is reported to the operator, once a day", async (t) => {
  const internet = pretendInternet();
  const operator = await startReceiver(t, internet, "operator.example");
  const gateway = await startGateway({
    file: (sandbox) => ({
      ...configurationWith(sandbox, {
        scopes: ["chat"],
        routes: { chat: "oa/gpt-4o" },
        apps: { notes: { key: KEY } },
      }),
      alerts: [{ url: OPERATOR_URL, events: ["model_substitution"] }],
    }),
    network: internet,
  });
  t.after(() => gateway.close());
  const secret = alertDestinations(gateway.configuration, PEPPER)[0]?.secret ?? "";
  const substitute = async () => {
    gateway.sandbox.addFault({ wire: "openai", fault: { kind: "other_model", name: "gpt-4o-mini" }, times: 1 });
    assert.equal((await postChat(gateway.origin, { messages: HELLO }, { key: KEY })).status, 200);
    await report(gateway);
  };
  await substitute();
  await substitute();
  const causes = () => alertsOf(operator, secret).map(({ cause, summary }) => [cause, summary]);
  const expected = ["model_substitution/oa/gpt-4o", "oa answered gpt-4o with gpt-4o-mini."];
  assert.deepEqual(causes(), [expected]);
  await shiftClock(gateway.database, 86_401);
  await substitute();
  assert.deepEqual(causes(), [expected, expected]);
});

/** Reports what there is, until it is delivered: the gateway's own timers, or another process, may be delivering it already. */
async function report({ app, database }: TestGateway): Promise<void> {
  for (let pending = true; pending; ) {
    await app.alerts.runNow();
    const waiting = database.db.selectFrom("alert_deliveries").select("id").where("state", "=", "pending");
    pending = (await waiting.executeTakeFirst()) !== undefined;
  }
}

/** The record of a request is complete a moment after its answer. */
async function recordWritten({ app }: TestGateway): Promise<void> {
  await app.settled();
  await app.requestLog.flush();
}
