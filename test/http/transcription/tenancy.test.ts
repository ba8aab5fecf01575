// POST /v1/transcription and GET /v1/me: which key sees what of apps, workspaces, their own accounts and names of providers.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { generateKey, hashKey } from "../../../src/auth/key-format.ts";
import { keyDescription } from "../../../src/contract/account.ts";
import type { ConfigurationFile } from "../../../src/config/schema/file.ts";
import type { Sandbox } from "../../../sandbox/server.ts";
import { announceChange } from "../../../src/storage/connection/announce.ts";
import { type Answer, detailsOf, envelopeOf, get, postForm, speech } from "../../harness/client.ts";
import { configurationWith } from "../../harness/configuration.ts";
import { configurationOf, PEPPER, startGateway, type TestGateway } from "../../harness/gateway.ts";
import { until } from "../../harness/until.ts";

const KEYS = {
  notes: "key-of-the-notes-app-of-acme-0001",
  notesToo: "second-key-of-the-notes-of-acme-1",
  tasks: "key-of-the-tasks-app-of-acme-0001",
  private: "key-of-the-app-on-the-own-route-1",
  reader: "key-of-acme-that-may-see-routing-1",
  other: "key-of-the-app-of-the-other-tenant",
  otherReader: "key-of-the-other-that-sees-routing",
  revoked: "key-that-is-revoked-by-a-test-0001",
  expired: "key-that-has-expired-by-a-test-001",
} as const;
const READING = ["transcribe", "routing:read"] as const;
/** Whatever shows a caller where its audio went. */
const NAMES = ["deepgram", "openai", "nova-3", "whisper-1", "conn-alpha", "conn-beta", "conn-own", "route-own"];

const tenants = (sandbox: Pick<Sandbox, "deepgramUrl" | "openaiUrl">): ConfigurationFile =>
  configurationWith(sandbox, {
    scopes: ["transcribe"],
    connections: {
      "conn-alpha": { kind: "deepgram", api_key: "platform-alpha" },
      "conn-beta": { kind: "openai", api_key: "platform-beta" },
    },
    routes: { speech: ["conn-alpha/nova-3", "conn-beta/whisper-1"] },
    workspaces: {
      acme: {
        connections: { "conn-own": { kind: "deepgram", api_key: "acme-own-1111" } },
        routes: { "route-own": "conn-own/nova-3" },
        apps: {
          notes: {
            route: "speech",
            keys: {
              notes: KEYS.notes,
              "notes-too": KEYS.notesToo,
              revoked: KEYS.revoked,
              expired: KEYS.expired,
              reader: { secret: KEYS.reader, scopes: READING },
            },
          },
          tasks: { route: "speech", keys: { tasks: KEYS.tasks } },
          private: { route: "route-own", scopes: READING, keys: { private: KEYS.private } },
        },
      },
      other: {
        // The same id as a shared one: in this workspace, and in no other, it replaces it.
        connections: { "conn-alpha": { kind: "deepgram", api_key: "other-own-2222" } },
        apps: { app: { keys: { other: KEYS.other, "other-reader": { secret: KEYS.otherReader, scopes: READING } } } },
      },
    },
  });

let gateway: TestGateway;
before(async () => {
  gateway = await startGateway({ file: tenants });
});
after(() => gateway.close());

const post = (key: string, call: Parameters<typeof postForm>[1] = {}) => postForm(gateway.origin, { key, ...call });
const replayed = (answer: Answer) => answer.headers.get("x-svc-idempotent-replay");

test("idempotency.app-scope: one Idempotency-Key is one request per app: replayed within it, independent in others", async () => {
  const headers = { "idempotency-key": "shared-by-chance" };
  gateway.sandbox.clearCalls();
  const first = envelopeOf(await post(KEYS.notes, { headers }));
  const again = await post(KEYS.notesToo, { headers });
  assert.equal(envelopeOf(again).id, first.id, "another key of the same app");
  assert.equal(replayed(again), "true");
  assert.equal(gateway.sandbox.callCount, 1);
  const seen = new Set([first.id]);
  for (const key of [KEYS.tasks, KEYS.other]) {
    const answer = await post(key, { headers, fields: { language: "en" } });
    seen.add(envelopeOf(answer).id);
    assert.equal(replayed(answer), null);
  }
  assert.equal(seen.size, 3);
  assert.equal(gateway.sandbox.callCount, 3);
  const changed = await post(KEYS.notes, { headers, fields: { language: "en" } });
  assert.equal(changed.code, "IDEMPOTENCY_KEY_REUSED", "the first app's slot was not touched by the others");
});

test("providers.byok-replaces: a workspace's own account replaces the shared one of the same id there and in no other workspace", async () => {
  for (const [key, lastFour] of [
    [KEYS.notes, "lpha"],
    [KEYS.other, "2222"],
    [KEYS.private, "1111"],
  ] as const) {
    gateway.sandbox.clearCalls();
    envelopeOf(await post(key));
    assert.equal(gateway.sandbox.callCount, 1);
    assert.ok(gateway.sandbox.calls[0]?.headers["authorization"]?.endsWith(lastFour), key);
  }
});

test("tenancy.lists: another workspace never sees the route and connection of its neighbour, nor can it name them", async () => {
  const own = await get(gateway.origin, "/v1/me", KEYS.private);
  assert.match(own.text, /conn-own/);
  for (const key of [KEYS.other, KEYS.otherReader]) {
    const foreign = await get(gateway.origin, "/v1/me", key);
    const decision = await post(key, { fields: { dry_run: "true" } });
    for (const text of [foreign.text, decision.text]) {
      for (const name of ["conn-own", "route-own", "acme", "1111"]) assert.ok(!text.includes(name), `${name}: ${text}`);
    }
    assert.equal(keyDescription.parse(foreign.json).workspace.slug, "other");
  }
  for (const borrowed of ["route", "connection"] as const) {
    const file = tenants(gateway.sandbox);
    const [acme, other] = file.workspaces ?? [];
    assert.ok(acme !== undefined && other !== undefined);
    const intruder =
      borrowed === "route"
        ? { ...other, apps: (other.apps ?? []).map((app) => ({ ...app, route: "route-own" })) }
        : { ...other, routes: [{ id: "taken", targets: [{ connection: "conn-own", model: "nova-3" }] }] };
    await assert.rejects(
      configurationOf({ ...file, workspaces: [acme, intruder] }, gateway.dataDir),
      /workspaces\[1\]/,
    );
  }
});

test("routing.target-names-hidden: the names of providers, models and connections appear only with routing:read", async () => {
  const lacking = { redaction: "true", language: "de", timestamps: "word" };
  const ask = async (key: string) => ({
    me: await get(gateway.origin, "/v1/me", key),
    decision: await post(key, { fields: { dry_run: "true" } }),
    refusal: await post(key, { fields: lacking }),
  });
  const shown = await ask(KEYS.reader);
  const hidden = await ask(KEYS.notes);
  assert.equal(shown.refusal.code, "REQUIRED_FEATURE_UNSUPPORTED");
  assert.equal(hidden.refusal.code, "REQUIRED_FEATURE_UNSUPPORTED");
  const names = [
    { position: 1, connection: "conn-alpha", provider: "deepgram", model: "nova-3" },
    { position: 2, connection: "conn-beta", provider: "openai", model: "whisper-1" },
  ];
  const { routing_contexts: contexts } = keyDescription.parse(shown.me.json);
  assert.deepEqual(
    contexts.map(({ targets }) => targets),
    [names, names],
  );
  for (const candidates of [
    (shown.decision.json as { candidates: readonly NamedTarget[] }).candidates,
    detailsOf(shown.refusal)["candidates"] as readonly NamedTarget[],
  ]) {
    assert.deepEqual(candidates.map(namesOf), names);
  }
  for (const [where, answer] of Object.entries(hidden)) assertNameless(where, answer);
});

interface NamedTarget {
  readonly position: number;
  readonly connection?: string;
  readonly provider?: string;
  readonly model?: string;
}

function namesOf({ position, connection, provider, model }: NamedTarget) {
  return { position, connection, provider, model };
}

function assertNameless(where: string, answer: Answer): void {
  const headers = JSON.stringify([...answer.headers]);
  for (const name of NAMES) {
    assert.ok(!answer.text.toLowerCase().includes(name), `${where}: ${name} in ${answer.text}`);
    assert.ok(!headers.toLowerCase().includes(name), `${where}: ${name} in ${headers}`);
  }
}

test("routing.target-names-hidden: answers, warnings and failures of providers do not contain them either", async () => {
  const fields = { prompt: "a podcast", speaker_count_hint: "2", timestamps: "both" };
  assertNameless("warnings", await post(KEYS.notes, { fields }));
  for (const fault of [
    { kind: "status", status: 400 },
    { kind: "drop", feature: "diarization" },
    { kind: "reset_after_body" },
  ] as const) {
    gateway.sandbox.addFault({ fault });
    const answer = await post(KEYS.notes, { fields: { diarization: "true" } });
    gateway.sandbox.clearFaults();
    assert.equal(answer.status, 502, answer.text);
    assertNameless(fault.kind, answer);
  }
});

test("keys.one-401: no, malformed, mistyped, unknown, revoked and expired key: one identical 401", async () => {
  const { db } = gateway.database;
  const row = (secret: string) => db.updateTable("api_keys").where("secret_hash", "=", hashKey(PEPPER, secret));
  const revoked = await row(KEYS.revoked).set({ revoked_at: new Date() }).executeTakeFirstOrThrow();
  const expired = await row(KEYS.expired)
    .set({ expires_at: new Date(Date.now() - 1_000) })
    .executeTakeFirstOrThrow();
  assert.deepEqual([revoked.numUpdatedRows, expired.numUpdatedRows], [1n, 1n]);
  const valid = generateKey("live");
  const authorizations = {
    none: null,
    empty: "",
    "another scheme": `Basic ${KEYS.notes}`,
    "no key": "Bearer",
    malformed: "Bearer short",
    mistyped: `Bearer ${valid.slice(0, -1)}${valid.endsWith("A") ? "B" : "A"}`,
    unknown: `Bearer ${valid}`,
    "unknown, of the operator's form": "Bearer key-that-nobody-was-given-00001",
    revoked: `Bearer ${KEYS.revoked}`,
    expired: `Bearer ${KEYS.expired}`,
    "right, and something behind it": `Bearer ${KEYS.notes}x`,
  };
  const form = () => {
    const body = new FormData();
    body.append("file", new Blob([new Uint8Array(speech())]), "a.wav");
    return body;
  };
  gateway.sandbox.clearCalls();
  for (const [method, path] of [
    ["POST", "/v1/transcription"],
    ["GET", "/v1/me"],
  ] as const) {
    const answers = await Promise.all(
      Object.entries(authorizations).map(async ([name, authorization]) => {
        const response = await fetch(`${gateway.origin}${path}`, {
          method,
          headers: authorization === null ? {} : { authorization },
          ...(method === "POST" ? { body: form() } : {}),
        });
        const ownId = response.headers.get("x-request-id") ?? "";
        assert.match(ownId, /^req_/);
        const body = (await response.text()).replace(ownId, "");
        const headers = [...response.headers].filter(([header]) => !["date", "x-request-id"].includes(header));
        return { name, status: response.status, body, headers };
      }),
    );
    const [first] = answers;
    assert.equal(first?.status, 401);
    assert.ok(first.headers.some(([name, value]) => name === "www-authenticate" && value === "Bearer"));
    assert.match(first.body, /"UNAUTHENTICATED"/);
    for (const { name, ...answer } of answers) assert.deepEqual({ name, ...answer }, { ...first, name }, path);
  }
  assert.equal(gateway.sandbox.callCount, 0);
});

test("keys.revoke-announced: a key that was just used is refused once its revocation is announced, and others are not", async () => {
  const own = await startGateway({ file: tenants });
  try {
    for (const key of [KEYS.revoked, KEYS.notes]) assert.equal((await get(own.origin, "/v1/me", key)).status, 200);
    await own.database.transaction(async (tx) => {
      await tx
        .updateTable("api_keys")
        .set({ revoked_at: new Date() })
        .where("secret_hash", "=", hashKey(PEPPER, KEYS.revoked))
        .execute();
      await announceChange(tx, "keys", "revoked");
    });
    await until(async () => (await get(own.origin, "/v1/me", KEYS.revoked)).code === "UNAUTHENTICATED");
    assert.equal((await get(own.origin, "/v1/me", KEYS.notes)).status, 200);
  } finally {
    await own.close();
  }
});
