// Alerts from their recording to the receiver: signed, once an hour for a cause, over processes and restarts, to whom they concern.
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { sql } from "kysely";
import { createAlertDelivery, deliverAlerts, MAX_ATTEMPTS } from "../../src/alerts/deliver.ts";
import { raiseAlerts } from "../../src/alerts/raise.ts";
import { sweepAlerts } from "../../src/alerts/sweep.ts";
import { ALERT_EVENTS, WORKSPACE_ALERT_EVENTS } from "../../src/contract/alerts.ts";
import { brand } from "../../src/contract/ids.ts";
import {
  makeTenant,
  type OpenDatabase,
  openTestDatabase,
  setClock,
  type TestDatabase,
} from "../harness/postgres/database.ts";
import { until } from "../harness/until.ts";
import { httpServer, readAll } from "../outbound/loopback.ts";
import {
  alertsOf,
  anAlert,
  destinationOf,
  openWorld,
  OPERATOR_URL,
  type Receiver,
  startReceiver,
  verdictOf,
  workspaceOf,
  type World,
} from "./world.ts";

const START = Date.parse("2026-11-10T12:00:00Z");
const HOUR_MS = 3_600_000;
let database: TestDatabase;
let second: OpenDatabase;

before(async () => {
  database = await openTestDatabase();
  second = await database.openSecond();
});
after(async () => {
  await second.close();
  await database.close();
});
beforeEach(async () => {
  await at(0);
  await database.db.deleteFrom("alert_deliveries").execute();
  await database.db.deleteFrom("alert_causes").execute();
});

const at = (ms: number) => setClock(database, new Date(START + ms).toISOString());
const occurring = (ms: number) => ({ occurredAt: new Date(START + ms) });

type Context = Parameters<typeof openWorld>[0];

async function operatorWorld(t: Context): Promise<World & { readonly receiver: Receiver; readonly secret: string }> {
  const world = await openWorld(t, database, { alerts: [{ url: OPERATOR_URL }] });
  const receiver = await startReceiver(t, world.internet, "operator.example");
  return { ...world, receiver, secret: destinationOf(world, "alerts[0]").secret };
}

const states = async () =>
  (await database.db.selectFrom("alert_deliveries").select(["state", "attempts_made", "last_outcome"]).execute()).map(
    ({ state, attempts_made: made, last_outcome: outcome }) => [state, made, outcome],
  );

test("alerts.signature, alerts.body: a receiver verifies an alert with the published code, and finds cause, details and a text for Slack", async (t) => {
  const { services, receiver, secret } = await operatorWorld(t);
  await raiseAlerts(services, [
    anAlert({ event: "model_substitution", summary: "x answered <!channel> & more", ...occurring(0) }),
  ]);
  await deliverAlerts(services);
  const [received] = receiver.received;
  const verdict = verdictOf(received, secret);
  assert.ok(verdict.ok, JSON.stringify(verdict));
  const { id, ...alert } = verdict.alert;
  assert.match(id, /^alr_[0-9a-z]{26}$/u);
  assert.deepEqual(alert, {
    event: "model_substitution",
    occurred_at: "2026-11-10T12:00:00.000Z",
    workspace: null,
    cause: "disk_low/host/data_dir",
    summary: "x answered <!channel> & more",
    details: { free_bytes: 1 },
    text: "Patchbay: x answered &lt;!channel&gt; &amp; more",
  });
  assert.equal(received?.headers["x-svc-webhook-id"], id);
  assert.equal(received?.headers["webhook-id"], id);
  assert.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/u);
  const forged = verdictOf(received, `whsec_${Buffer.alloc(32).toString("base64")}`);
  assert.deepEqual(forged, { ok: false, reason: "wrong_signature" });
});

test("alerts.once-an-hour: of every event one alert an hour reaches a destination for one cause, and the next one after the hour", async (t) => {
  const { services, receiver, secret } = await operatorWorld(t);
  const raise = async (ms: number) => {
    await at(ms);
    const alerts = ALERT_EVENTS.map((event) => anAlert({ event, cause: event, ...occurring(ms) }));
    await raiseAlerts(services, alerts);
    await raiseAlerts(services, alerts);
    await deliverAlerts(services);
    return alertsOf(receiver, secret)
      .slice(-alerts.length)
      .map(({ event }) => event)
      .toSorted();
  };
  assert.deepEqual(await raise(0), ALERT_EVENTS.toSorted());
  await raise(HOUR_MS - 1_000);
  assert.equal(receiver.received.length, ALERT_EVENTS.length, "within the hour");
  await raise(HOUR_MS);
  const again = alertsOf(receiver, secret).slice(ALERT_EVENTS.length);
  assert.deepEqual(again.map(({ event }) => event).toSorted(), [
    "circuit_open",
    "disk_low",
    "jobs_failing",
    "webhook_given_up",
  ]);
  await raise(24 * HOUR_MS);
  assert.equal(alertsOf(receiver, secret).filter(({ event }) => event === "model_substitution").length, 2);
});

test("alerts.once-an-hour: after the hour a cause is reported again only if it occurred since", async (t) => {
  const { services } = await operatorWorld(t);
  assert.equal(await raiseAlerts(services, [anAlert(occurring(0))]), 1);
  await at(2 * HOUR_MS);
  assert.equal(await raiseAlerts(services, [anAlert(occurring(0))]), 0);
  assert.equal(await raiseAlerts(services, [anAlert(occurring(1))]), 1);
});

test("alerts.two-processes: processes that raise and deliver at the same moment send one alert per cause and destination", async (t) => {
  const world = await operatorWorld(t);
  const other = world.servicesOn(second);
  const alerts = Array.from({ length: 20 }, (_, index) => anAlert({ cause: `cause/${index}`, ...occurring(0) }));
  const raised = await Promise.all(
    [world.services, other, world.services, other].map((each) => raiseAlerts(each, alerts)),
  );
  assert.equal(
    raised.reduce((sum, each) => sum + each, 0),
    20,
  );
  await Promise.all([world.services, other, world.services, other].map((each) => deliverAlerts(each)));
  const causes = alertsOf(world.receiver, world.secret).map(({ cause }) => cause);
  assert.deepEqual(causes.toSorted(), alerts.map(({ cause }) => cause).toSorted());
});

test("alerts.durable, alerts.retries: an alert that a receiver refuses is sent by the next process, under the same id", async (t) => {
  const world = await operatorWorld(t);
  world.receiver.status(503);
  await raiseAlerts(world.services, [anAlert(occurring(0))]);
  await deliverAlerts(world.services);
  await deliverAlerts(world.services);
  assert.deepEqual(await states(), [["pending", 1, "http_status"]], "the next attempt is not due yet");
  const restarted = world.servicesOn(second);
  world.receiver.status(200);
  assert.equal(await raiseAlerts(restarted, [anAlert(occurring(1))]), 0, "the cause is known after a restart");
  await at(10_000);
  await deliverAlerts(restarted);
  assert.deepEqual(await states(), [["delivered", 2, "delivered"]]);
  const [first, next] = alertsOf(world.receiver, world.secret);
  assert.deepEqual(first, next);
});

test("alerts.durable: an attempt that a stopping process aborts is made by the next one", async (t) => {
  const world = await operatorWorld(t);
  const stopping = new AbortController();
  const hanging = await httpServer(t, async (request) => {
    await readAll(request);
    stopping.abort(new Error("stopping"));
  });
  world.internet.name("operator.example", ["93.184.216.250"]);
  world.internet.server("93.184.216.250", hanging);
  await raiseAlerts(world.services, [anAlert(occurring(0))]);
  await deliverAlerts(world.services, stopping.signal);
  assert.deepEqual(await states(), [["pending", 0, null]]);
  const receiver = await startReceiver(t, world.internet, "operator.example");
  await deliverAlerts(world.servicesOn(second));
  assert.equal(receiver.received.length, 1);
});

test("alerts.durable: a delivery whose process died during the attempt is due again after a while", async (t) => {
  const world = await operatorWorld(t);
  await raiseAlerts(world.services, [anAlert(occurring(0))]);
  const called = Promise.withResolvers<void>();
  void deliverAlerts({
    ...world.services,
    receivers: {
      post: () => {
        called.resolve();
        return new Promise<never>(() => undefined);
      },
    },
  });
  await called.promise;
  await deliverAlerts(world.servicesOn(second));
  assert.equal(world.receiver.received.length, 0, "claimed");
  await at(60_000);
  await deliverAlerts(world.servicesOn(second));
  assert.deepEqual(await states(), [["delivered", 2, "delivered"]]);
});

test("alerts.retries, alerts.secrecy: after five attempts an alert is given up, which the log says without address and secret", async (t) => {
  const { services, receiver, lines, attempts, secret } = await operatorWorld(t);
  receiver.status(500);
  await raiseAlerts(services, [anAlert(occurring(0))]);
  for (let made = 0; made < MAX_ATTEMPTS + 2; made += 1) {
    await at(made * 3 * HOUR_MS);
    await deliverAlerts(services);
  }
  assert.deepEqual(await states(), [["failed", MAX_ATTEMPTS, "http_status"]]);
  assert.equal(receiver.received.length, MAX_ATTEMPTS);
  assert.deepEqual(
    attempts,
    Array.from({ length: MAX_ATTEMPTS }, () => "http_status"),
  );
  const events = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  assert.deepEqual(
    events.map(({ event, subject, status }) => [event, subject, status]),
    [
      ["alert.raised", "disk_low/host/data_dir", undefined],
      ...Array.from({ length: MAX_ATTEMPTS - 1 }, () => ["alert.not_delivered", "alerts[0]", 500]),
      ["alert.given_up", "alerts[0]", 500],
    ],
  );
  for (const hidden of [secret, secret.slice(6), "token-of-the-operator", "operator.example"])
    assert.ok(!lines.join("").includes(hidden), hidden);
});

test("alerts.url-rules: an address that is not public is neither dialled nor allowed by a destination of alerts", async (t) => {
  const world = await operatorWorld(t);
  world.internet.name("operator.example", ["10.0.0.7"]);
  await raiseAlerts(world.services, [anAlert(occurring(0))]);
  await deliverAlerts(world.services);
  assert.deepEqual(world.attempts, ["address_not_allowed"]);
  assert.deepEqual(world.internet.dialled, []);
});

test("alerts.workspace: a workspace hears of itself, of its own events, and never of another workspace", async (t) => {
  const acme = await makeTenant(database);
  const other = await makeTenant(database);
  const slugs = [acme.workspaceId, other.workspaceId];
  // Ids of tenants are slugs of the configuration here.
  const configured = slugs.map((id, index) => ({ id, alerts: [{ url: `https://tenant${index}.example/alerts` }] }));
  const world = await openWorld(t, database, { alerts: [{ url: OPERATOR_URL }], workspaces: configured });
  const operator = await startReceiver(t, world.internet, "operator.example");
  const [first, next] = [
    await startReceiver(t, world.internet, "tenant0.example"),
    await startReceiver(t, world.internet, "tenant1.example"),
  ];
  await raiseAlerts(world.services, [
    anAlert(occurring(0)),
    ...ALERT_EVENTS.map((event) =>
      anAlert({ event, cause: `${event}/acme`, workspace: workspaceOf(acme), ...occurring(0) }),
    ),
    anAlert({ event: "jobs_failing", cause: "jobs_failing/other", workspace: workspaceOf(other), ...occurring(0) }),
  ]);
  await deliverAlerts(world.services);
  const secretOf = (slug: string) => destinationOf(world, `${slug}: alerts[0]`).secret;
  assert.deepEqual(
    new Set(alertsOf(first, secretOf(acme.workspaceId)).map(({ cause, workspace }) => `${cause} ${workspace ?? ""}`)),
    new Set(WORKSPACE_ALERT_EVENTS.map((event) => `${event}/acme ${acme.workspaceId}`)),
  );
  assert.deepEqual(
    alertsOf(next, secretOf(other.workspaceId)).map(({ cause }) => cause),
    ["jobs_failing/other"],
  );
  assert.equal(operator.received.length, ALERT_EVENTS.length + 2);
  const visible = await database.inWorkspace(brand("workspace", other.workspaceId), (tx) =>
    tx.selectFrom("alert_deliveries").select("workspace_id").execute(),
  );
  assert.deepEqual(visible, [{ workspace_id: other.workspaceId }], "row-level security hides other owners' alerts");
  assert.notEqual(secretOf(acme.workspaceId), secretOf(other.workspaceId));
});

test("alerts.destination-events: a destination receives the events that it lists and no others", async (t) => {
  const world = await openWorld(t, database, { alerts: [{ url: OPERATOR_URL, events: ["circuit_open"] }] });
  const receiver = await startReceiver(t, world.internet, "operator.example");
  await raiseAlerts(world.services, [
    anAlert(occurring(0)),
    anAlert({ event: "circuit_open", cause: "circuit_open/x", ...occurring(0) }),
  ]);
  await deliverAlerts(world.services);
  const { secret } = destinationOf(world, "alerts[0]");
  assert.deepEqual(
    alertsOf(receiver, secret).map(({ event }) => event),
    ["circuit_open"],
  );
});

test("alerts.isolation: a destination that does not answer delays no other one", async (t) => {
  const world = await openWorld(t, database, {
    alerts: [{ url: "https://silent.example/" }, { url: OPERATOR_URL }],
  });
  const arrived = Promise.withResolvers<void>();
  const held: (() => void)[] = [];
  const silent = await httpServer(t, async (request, response) => {
    await readAll(request);
    held.push(() => response.end());
    arrived.resolve();
  });
  world.internet.name("silent.example", ["93.184.216.250"]);
  world.internet.server("93.184.216.250", silent);
  const delivered = Promise.withResolvers<void>();
  const quick = await httpServer(t, async (request, response) => {
    await readAll(request);
    response.end();
    delivered.resolve();
  });
  world.internet.name("operator.example", ["93.184.216.251"]);
  world.internet.server("93.184.216.251", quick);
  await raiseAlerts(world.services, [anAlert(occurring(0))]);
  const delivering = deliverAlerts(world.services);
  await Promise.all([arrived.promise, delivered.promise]);
  for (const answer of held) answer();
  await delivering;
});

test("alerts.isolation: what is raised while a destination does not answer is delivered to the others meanwhile", async (t) => {
  const world = await openWorld(t, database, { alerts: [{ url: "https://silent.example/" }, { url: OPERATOR_URL }] });
  const answering = Promise.withResolvers<void>();
  const silent = await httpServer(t, async (request, response) => {
    await readAll(request);
    await answering.promise;
    response.end();
  });
  world.internet.name("silent.example", ["93.184.216.250"]);
  world.internet.server("93.184.216.250", silent);
  const receiver = await startReceiver(t, world.internet, "operator.example");
  const delivery = createAlertDelivery(world.services);
  const { signal } = new AbortController();
  for (const index of [1, 2]) {
    await raiseAlerts(world.services, [anAlert({ cause: `cause/${index}`, ...occurring(0) })]);
    await until(async () => {
      await delivery.start(signal);
      return receiver.received.length === index;
    });
  }
  answering.resolve();
  await delivery.settled();
});

test("alerts.backlog: at most 500 alerts wait for a destination, the log counts the dropped ones, and none of them counts as reported", async (t) => {
  const { services, lines } = await operatorWorld(t);
  const alerts = Array.from({ length: 503 }, (_, index) => anAlert({ cause: `cause/${index}`, ...occurring(0) }));
  assert.equal(await raiseAlerts(services, alerts), 500);
  const dropped = lines.map((line) => JSON.parse(line) as Record<string, unknown>).filter((line) => "lost" in line);
  assert.deepEqual(
    dropped.map(({ event, lost, subject }) => [event, lost, subject]),
    [["alert.dropped", 3, "alerts[0]"]],
  );
  const causes = await database.db.selectFrom("alert_causes").select("cause").execute();
  assert.equal(causes.length, 500);
});

test("alerts.backlog: causes that were reported leave the room to others, however many they are", async (t) => {
  const { services, lines } = await operatorWorld(t);
  const alertsFrom = (first: number) =>
    Array.from({ length: 400 }, (_, index) => anAlert({ cause: `cause/${1_000 + first + index}`, ...occurring(0) }));
  assert.equal(await raiseAlerts(services, alertsFrom(0)), 400);
  await database.db
    .updateTable("alert_deliveries")
    .set({ state: "delivered", finished_at: new Date(START) })
    .execute();
  assert.equal(await raiseAlerts(services, [...alertsFrom(0), ...alertsFrom(400)]), 400);
  assert.ok(!lines.some((line) => line.includes("alert.dropped")));
});

test("alerts.retries: an alert whose process dies in every attempt is given up, too", async (t) => {
  const { services, lines, receiver } = await operatorWorld(t);
  await raiseAlerts(services, [anAlert(occurring(0))]);
  const broken = { ...services, receivers: { post: () => Promise.reject(new Error("unexpected")) } };
  for (let made = 0; made <= MAX_ATTEMPTS; made += 1) {
    await at(made * 60_000);
    await deliverAlerts(broken);
    await deliverAlerts(broken);
  }
  assert.deepEqual(await states(), [["failed", MAX_ATTEMPTS + 1, "interrupted"]]);
  assert.equal(lines.filter((line) => line.includes('"task":"deliver alerts"')).length, MAX_ATTEMPTS);
  assert.ok(lines.some((line) => line.includes("alert.given_up")));
  assert.equal(receiver.received.length, 0);
});

test("alerts.retention: deliveries go after seven days, causes a day after they may be reported again", async (t) => {
  const { services } = await operatorWorld(t);
  await raiseAlerts(services, [anAlert(occurring(0)), anAlert({ event: "retirement", cause: "r", ...occurring(0) })]);
  const left = async () => {
    await sweepAlerts(database);
    const { rows } = await sql<{ deliveries: number; causes: number }>`
      select (select count(*)::int from alert_deliveries) as deliveries, (select count(*)::int from alert_causes) as causes`.execute(
      database.db,
    );
    return rows[0];
  };
  await at(24 * HOUR_MS);
  assert.deepEqual(await left(), { deliveries: 2, causes: 2 });
  await at(26 * HOUR_MS);
  assert.deepEqual(await left(), { deliveries: 2, causes: 1 });
  await at(7 * 24 * HOUR_MS + 1_000);
  assert.deepEqual(await left(), { deliveries: 0, causes: 1 });
});
