// The webhook's settings: its secret is shown once [webhooks.secret-shown-once], stored sealed [webhooks.sealed], and changed with an
// overlap [webhooks.rotation].
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { sql } from "kysely";
import { viewEtag } from "../../src/admin/precondition.ts";
import type { GatewayError } from "../../src/contract/errors.ts";
import { webhookView } from "../../src/contract/webhook.ts";
import { configureWebhook } from "../../src/webhooks/configure.ts";
import { deleteWebhook, describeWebhook } from "../../src/webhooks/describe.ts";
import { sweepWebhooks } from "../../src/webhooks/sweep.ts";
import { verifyWebhook } from "../../src/webhooks/verify.ts";
import { newId } from "../../src/contract/ids.ts";
import { openTestDatabase, shiftClock, type TestDatabase } from "../harness/postgres/database.ts";
import { type Bench, openBench, present, status } from "./harness.ts";

let database: TestDatabase;
before(async () => {
  database = await openTestDatabase();
});
after(() => database.close());

/** Every row of every table of the gateway, as text; bytes as hexadecimal. */
async function dump(): Promise<string> {
  const { rows: tables } = await sql<{ name: string }>`
    select table_name as name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'`.execute(
    database.db,
  );
  const texts = await Promise.all(
    tables.map(async ({ name }) => {
      const { rows } = await sql<{ row: string }>`select t::text as row from ${sql.table(name)} t`.execute(database.db);
      return rows.map(({ row }) => row).join("\n");
    }),
  );
  return texts.join("\n");
}

const judge = (bench: Bench, secret: string) => verifyWebhook({ ...present(bench.requests.at(-1)), secret });

async function deliverOne(bench: Bench): Promise<void> {
  await bench.run(present(await bench.event()));
}

test("webhooks.fragment: a fragment, which no delivery contains, is not stored, shown or audited", async () => {
  const bench = await openBench(database);
  for (const made of [
    await bench.configure({ url: "https://receiver.example/hooks?a=b#canary-of-the-fragment" }),
    await describeWebhook(bench.services, bench.workspaceId),
    await bench.configure({ url: "https://receiver.example/hooks?a=b#another#canary-of-the-fragment" }),
  ])
    assert.equal(made.url, "https://receiver.example/hooks?a=b");
  assert.ok(!(await dump()).includes("canary-of-the-fragment"));
});

test("webhooks.secret-shown-once: the first call creates the secret and shows it; no later answer, row or audit entry contains it", async () => {
  const bench = await openBench(database);
  const made = await bench.configure();
  webhookView.parse(made);
  const secret = present(made.secret);
  assert.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/);
  assert.equal(made.secret_last4, secret.slice(-4));
  const later = [
    await bench.configure({ url: "https://other.example/" }),
    await describeWebhook(bench.services, bench.workspaceId),
    await bench.configure({ enabled: false }),
  ];
  for (const view of later) {
    assert.ok(!("secret" in webhookView.parse(view)));
    assert.equal(view.secret_last4, made.secret_last4);
  }
  await deliverOneWhenEnabled(bench);
  const everything = `${JSON.stringify(later)}${JSON.stringify(await bench.audits())}${await dump()}`;
  const core = secret.slice("whsec_".length);
  const hex = (text: string) => Buffer.from(text).toString("hex");
  for (const form of [secret, core, hex(secret), hex(core), Buffer.from(core, "base64").toString("hex")])
    assert.ok(!everything.includes(form), "the secret was kept in the open");
  assert.ok(everything.includes(made.url), "its owner is shown the address");
  const kept = `${JSON.stringify(await bench.audits())}${await dump()}`;
  assert.ok(kept.includes(new URL(made.url).origin) && !kept.includes(made.url), "the address was kept in the open");
});

async function deliverOneWhenEnabled(bench: Bench): Promise<void> {
  await bench.configure({ enabled: true });
  await deliverOne(bench);
}

test("webhooks.rotation: rotated, the new secret is shown once and signs; the old one signs as well for 24 hours and no longer", async () => {
  const bench = await openBench(database);
  const old = present((await bench.configure()).secret);
  await deliverOne(bench);
  assert.ok(!("x-svc-webhook-signature-previous" in present(bench.requests.at(-1)).headers));
  const rotated = await bench.configure({ rotate_secret: true });
  const fresh = present(rotated.secret);
  assert.notEqual(fresh, old);
  const hours = (Date.parse(present(rotated.previous_secret_until)) - Date.now()) / 3_600_000;
  assert.ok(hours > 23.9 && hours < 24.1, String(hours));
  await deliverOne(bench);
  assert(judge(bench, fresh).ok);
  assert(judge(bench, old).ok);
  try {
    await shiftClock(database, 24 * 3_600 - 60);
    await deliverOne(bench);
    assert(judge(bench, old).ok);
    await shiftClock(database, 24 * 3_600 + 60);
    await deliverOne(bench);
    assert(judge(bench, fresh).ok);
    assert(!judge(bench, old).ok);
    assert.ok(!("x-svc-webhook-signature-previous" in present(bench.requests.at(-1)).headers));
    await sweepWebhooks(bench.services);
    const row = await database.db
      .selectFrom("webhooks")
      .select("previous_secret")
      .where("workspace_id", "=", bench.workspaceId)
      .executeTakeFirstOrThrow();
    assert.equal(row.previous_secret, null, "and is kept no longer");
  } finally {
    await shiftClock(database, 0);
  }
});

test("webhooks.revoke-previous: revoke_previous ends the old secret at once, in the rotation or after it", async () => {
  const bench = await openBench(database);
  const first = present((await bench.configure()).secret);
  const second = present((await bench.configure({ rotate_secret: true, revoke_previous: true })).secret);
  await deliverOne(bench);
  assert(judge(bench, second).ok);
  assert(!judge(bench, first).ok);
  const third = present((await bench.configure({ rotate_secret: true })).secret);
  await deliverOne(bench);
  assert(judge(bench, second).ok);
  const revoked = await bench.configure({ revoke_previous: true });
  assert.equal(revoked.previous_secret_until, null);
  assert.equal(revoked.secret, undefined);
  await deliverOne(bench);
  assert(judge(bench, third).ok);
  assert(!judge(bench, second).ok);
});

test("webhooks.first-call-race: two first calls at once create one secret, and it is the one that signs", async () => {
  const bench = await openBench(database);
  const answers = await Promise.all([bench.configure(), bench.configure(), bench.configure()]);
  const secrets = answers.flatMap(({ secret }) => secret ?? []);
  assert.equal(secrets.length, 1);
  await deliverOne(bench);
  assert(judge(bench, present(secrets[0])).ok);
});

test("webhooks.preconditions: of two changes from one state the second is refused and changes nothing, whichever was first", async () => {
  const bench = await openBench(database);
  const read = viewEtag(await bench.configure());
  const changes = await Promise.allSettled([
    bench.configure({ url: "https://one.example/" }, [read]),
    bench.configure({ rotate_secret: true }, [read]),
  ]);
  const made = changes.flatMap((change) => (change.status === "fulfilled" ? [change.value] : []));
  const refused = changes.flatMap((change) => (change.status === "rejected" ? [change.reason as GatewayError] : []));
  assert.deepEqual([made.length, refused.map(({ code }) => code)], [1, ["PRECONDITION_FAILED"]]);
  const { secret: _secret, ...shown } = present(made[0]);
  assert.deepEqual(await describeWebhook(bench.services, bench.workspaceId), shown);
  assert.equal((await bench.audits()).length, 2);
});

test("webhooks.preconditions: of two first webhooks that must be the first, one is created; one that must exist creates none", async () => {
  const bench = await openBench(database);
  for (const wrong of ["any", ['"stale"']] as const)
    await assert.rejects(bench.configure({}, wrong), { code: "PRECONDITION_FAILED" });
  await assert.rejects(describeWebhook(bench.services, bench.workspaceId), { code: "NOT_FOUND" });
  const both = await Promise.allSettled([bench.configure({}, "absent"), bench.configure({}, "absent")]);
  assert.deepEqual(both.map((each) => each.status).toSorted(), ["fulfilled", "rejected"]);
  assert.equal((await bench.audits()).length, 1);
  assert.equal((await bench.configure({}, "any")).enabled, true);
});

test("webhooks.etag-health: failures and successes leave the ETag alone; a webhook that the gateway disabled has a new one", async () => {
  const bench = await openBench(database);
  await bench.configure();
  await bench.configure({ rotate_secret: true });
  const tag = async () => viewEtag(await describeWebhook(bench.services, bench.workspaceId));
  const read = await tag();
  bench.answer(status(500));
  await bench.run(present(await bench.event()));
  assert.notEqual((await describeWebhook(bench.services, bench.workspaceId)).failing_since, null);
  assert.equal(await tag(), read);
  await shiftClock(database, 25 * 3_600);
  try {
    await sweepWebhooks(bench.services);
    assert.equal((await describeWebhook(bench.services, bench.workspaceId)).previous_secret_until, null);
    assert.equal(await tag(), read);
  } finally {
    await shiftClock(database, 0);
  }
  bench.answer(status(410));
  await bench.run(present(await bench.event()));
  assert.notEqual(await tag(), read);
  await assert.rejects(bench.configure({}, [read]), { code: "PRECONDITION_FAILED" });
  assert.equal((await describeWebhook(bench.services, bench.workspaceId)).disabled_reason, "gone");
});

test("webhooks.url-rules: a URL that may not be delivered to is a fault of the request, and nothing of it is stored", async () => {
  const bench = await openBench(database);
  const refusing = {
    ...bench.services,
    receivers: { ...bench.services.receivers, refusal: async () => "The URL's host must have public addresses." },
  };
  const wanted = { url: "https://10.0.0.1/", enabled: true, rotate_secret: true, revoke_previous: false };
  const change = { workspaceId: bench.workspaceId, actor: newId("key"), precondition: null, wanted };
  await assert.rejects(configureWebhook(refusing, change), { code: "INVALID_REQUEST", param: "url" });
  await assert.rejects(describeWebhook(bench.services, bench.workspaceId), { code: "NOT_FOUND" });
  const before = await bench.configure();
  await assert.rejects(configureWebhook(refusing, change), { code: "INVALID_REQUEST" });
  const kept = await describeWebhook(bench.services, bench.workspaceId);
  assert.deepEqual([kept.url, kept.secret_last4], [before.url, before.secret_last4]);
  assert.equal((await bench.audits()).length, 1);
});

test("webhooks.audit: every change has its audit entry with the key that made it, before and after", async () => {
  const bench = await openBench(database);
  await bench.configure();
  await bench.configure({ enabled: false });
  const actor = newId("key");
  await deleteWebhook(bench.services, { workspaceId: bench.workspaceId, actor, precondition: null });
  const audits = await bench.audits();
  assert.deepEqual(
    audits.map(({ action }) => action),
    ["stt_webhook.configured", "stt_webhook.configured", "stt_webhook.deleted"],
  );
  const [made, changed, deleted] = audits;
  assert.equal(made?.before, null);
  const state = (after: unknown) => ({ ...(after as object), url_changed: undefined });
  assert.deepEqual(state(changed?.before), state(made?.after));
  assert.deepEqual(state(deleted?.before), state(changed?.after));
  const moved = audits.map(({ after }) => (after as { readonly url_changed?: boolean } | null)?.url_changed);
  assert.deepEqual(moved, [true, false, undefined]);
  assert.deepEqual([deleted?.after, deleted?.actor_key_id], [null, actor]);
  assert.ok(JSON.stringify(changed?.after).includes('"disabled_reason":"owner"'));
});

test("webhooks.sealed: a secret opens in its own workspace and column only", async () => {
  const [one, two] = [await openBench(database), await openBench(database)];
  await one.configure();
  await two.configure();
  const { secret } = await database.db
    .selectFrom("webhooks")
    .select("secret")
    .where("workspace_id", "=", one.workspaceId)
    .executeTakeFirstOrThrow();
  await database.db.updateTable("webhooks").set({ secret }).where("workspace_id", "=", two.workspaceId).execute();
  const message = present(await two.event());
  await assert.rejects(two.run(message));
  assert.equal(two.requests.length, 0);
});
