// Every way in while the database server is read-only, stopping, starting or gone: 503 OVERLOADED with Retry-After, nothing is called, and
// keys are free as soon as it is back. On a PostgreSQL server of its own, whose sessions are really cut.
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { Client } from "pg";
import { type Sandbox, startSandbox } from "../../sandbox/server.ts";
import type { ConfigurationFile } from "../../src/config/schema/file.ts";
import { terminateSessions } from "../faults/terminate-sessions.ts";
import { type Answer, postForm, postJson, speech } from "../harness/client.ts";
import { configurationWith, mergeParts } from "../harness/configuration.ts";
import { KEY, standardParts, startGateway, type TestGateway } from "../harness/gateway.ts";
import { openSystemDatabase } from "../harness/postgres/database.ts";
import { type PostgresServer, startPostgresServer } from "../harness/postgres/postgres-server.ts";
import { until } from "../harness/until.ts";

const ADMIN_KEY = "test-admin-key-of-acme-000001";
let postgres: PostgresServer;
let gateway: TestGateway;
let opened: AsyncDisposableStack;
/** Called once behind the next claim of a key, before anything is reserved. */
let beforeReservation: (() => Promise<void>) | null = null;

before(async () => {
  await using opening = new AsyncDisposableStack();
  postgres = await startPostgresServer();
  opening.defer(() => postgres.stop());
  const dataDir = await mkdtemp(join(tmpdir(), "patchbay-test-"));
  opening.defer(() => rm(dataDir, { recursive: true, force: true }));
  const sandbox = await startSandbox();
  opening.defer(() => sandbox.close());
  const database = await openSystemDatabase({ databaseUrl: postgres.url });
  opening.defer(() => database.close());
  gateway = await startGateway({
    file,
    existing: { dataDir, sandbox, database },
    wrapGateway: (services) => ({
      ...services,
      quotas: {
        ...services.quotas,
        takeAudio: async (principal, seconds) => {
          const hook = beforeReservation;
          beforeReservation = null;
          await hook?.();
          return services.quotas.takeAudio(principal, seconds);
        },
      },
    }),
  });
  opening.defer(() => gateway.close());
  opened = opening.move();
});
after(() => opened?.disposeAsync());

function file(sandbox: Sandbox): ConfigurationFile {
  return configurationWith(
    sandbox,
    mergeParts(standardParts, {
      routes: { chat: "oa/gpt-4o" },
      apps: {
        notes: {
          route: "chat",
          audio_input_override: "speech",
          scopes: ["transcribe", "jobs", "chat"],
          keys: { k: KEY },
        },
      },
      admin: ADMIN_KEY,
    }),
  );
}

const CHAT = { messages: [{ role: "user", content: "Hello" }] };

/** One of each way in, by its name. `key`: of those that take one. */
function requests(key: string): Readonly<Record<string, () => Promise<Answer>>> {
  const { origin } = gateway;
  const keyed = (name: string) => ({ headers: { "idempotency-key": `${key}-${name}` } });
  return {
    transcription: () => postForm(origin, keyed("transcription")),
    "transcription without a key": () => postForm(origin),
    "streamed transcription": () => postForm(origin, { fields: { stream: "true" } }),
    job: () => postForm(origin, { path: "/v1/transcription/jobs", ...keyed("job") }),
    "job without a key": () => postForm(origin, { path: "/v1/transcription/jobs" }),
    chat: () => postJson(origin, CHAT, { path: "/v1/chat", ...keyed("chat") }),
    "compatible transcription": () =>
      postForm(origin, { path: "/v1/audio/transcriptions", fields: { model: "auto" }, ...keyed("compatible") }),
    "compatible chat": () =>
      postJson(origin, { ...CHAT, model: "auto" }, { path: "/v1/chat/completions", ...keyed("completion") }),
    "a change of settings": () => putDomains(),
  };
}

async function putDomains(): Promise<Answer> {
  const response = await fetch(`${gateway.origin}/workspace/acme/audio-url-domains`, {
    method: "PUT",
    headers: { authorization: `Bearer ${ADMIN_KEY}`, "content-type": "application/json" },
    body: JSON.stringify({ domains: ["media.acme.example"] }),
  });
  const text = await response.text();
  const json: unknown = JSON.parse(text);
  return {
    status: response.status,
    headers: response.headers,
    text,
    json,
    code: /"code":"([A-Z_]+)"/u.exec(text)?.[1] ?? null,
  };
}

async function ask<T>(work: (admin: Client) => Promise<T>): Promise<T> {
  const admin = new Client({ connectionString: postgres.url });
  await admin.connect();
  try {
    return await work(admin);
  } finally {
    await admin.end();
  }
}

/** As a standby is: connections can read, and cannot write. */
async function setReadOnly(isReadOnly: boolean): Promise<void> {
  await ask(async (admin) => {
    await admin
      .query(`alter system set default_transaction_read_only = ${isReadOnly ? "on" : "off"}`)
      .catch(async () => {
        await admin.query("set default_transaction_read_only = off");
        await admin.query(`alter system set default_transaction_read_only = ${isReadOnly ? "on" : "off"}`);
      });
    await admin.query("select pg_reload_conf()");
  });
  const wanted = isReadOnly ? "on" : "off";
  // Each session has to be notified.
  const isSet = async (query: (text: string) => Promise<string | undefined>) =>
    (await query("show default_transaction_read_only")) === wanted;
  await until(() =>
    ask((admin) =>
      isSet(
        async (text) =>
          (await admin.query<{ default_transaction_read_only: string }>(text)).rows[0]?.default_transaction_read_only,
      ),
    ),
  );
}

function assertRefused(answer: Answer, name: string): void {
  assert.deepEqual(
    [answer.status, answer.code, answer.headers.get("x-should-retry"), answer.headers.get("retry-after")],
    [503, "OVERLOADED", "true", "2"],
    `${name}: ${answer.text}`,
  );
}

const isBusy = ({ code }: Answer) => code === "OVERLOADED" || code === "IDEMPOTENCY_REPLAY_IN_PROGRESS";

/** As a careful application asks again, until it is neither refused nor asked to wait. */
async function untilAccepted(send: () => Promise<Answer>): Promise<Answer> {
  let answer = await send();
  await until(async () => {
    if (isBusy(answer)) answer = await send();
    return !isBusy(answer);
  });
  return answer;
}

test("storage.failover, errors.database-unavailable: on a read-only server (25006) every endpoint is 503 OVERLOADED, calls no provider, and works once the server is writable", async () => {
  gateway.sandbox.clearCalls();
  await setReadOnly(true);
  await terminateSessions(postgres.url);
  const all = requests("read-only");
  for (const [name, send] of Object.entries(all)) {
    // A connection that was cut may be noticed only by the first request that uses it, which is refused like the others.
    assertRefused(await send(), name);
    assertRefused(await send(), name);
  }
  assert.equal(gateway.sandbox.callCount, 0);
  await setReadOnly(false);
  for (const [name, send] of Object.entries(all)) {
    const { status, text } = await untilAccepted(send);
    assert.ok(status < 300, `${name}: ${status} ${text}`);
  }
});

/** What becomes of the server between the claim of a key and the reservation under it, and how it comes back. */
const BREAKS: Readonly<Record<string, { readonly end: () => Promise<void>; readonly back: () => Promise<void> }>> = {
  "read-only (25006)": { end: () => setReadOnly(true), back: () => setReadOnly(false) },
  "restarted, its sessions terminated (57P01, 57P03, ECONNREFUSED)": {
    end: async () => {
      restarting = postgres.restart({ crash: false, downMs: 300 });
      // It is on its way down when the reservation is tried.
      await until(() => ask(async () => false).catch(() => true));
    },
    back: () => restarting,
  },
};
let restarting: Promise<void> = Promise.resolve();

for (const [name, { end, back }] of Object.entries(BREAKS)) {
  test(`storage.failover-keys: a key whose reservation failed because the server was ${name} is free at once when it is available again`, async () => {
    const send = () =>
      postForm(gateway.origin, {
        file: speech(),
        headers: { "idempotency-key": `broken ${name}`.replaceAll(/[ ,()]/gu, "-") },
      });
    gateway.sandbox.clearCalls();
    beforeReservation = end;
    assertRefused(await send(), name);
    assert.equal(gateway.sandbox.callCount, 0);
    await back();
    // The database's clock is stopped, so that no lease lapses: only what the process does frees the key.
    await ask(async (admin) => {
      const { rows } = await admin.query<{ now: Date }>("select now()");
      await admin.query(
        `create or replace function patchbay_now() returns timestamptz language sql stable parallel safe as $$ select '${rows[0]?.now.toISOString()}'::timestamptz $$`,
      );
    });
    const { status } = await untilAccepted(send);
    await ask((admin) =>
      admin.query(
        "create or replace function patchbay_now() returns timestamptz language sql stable parallel safe as $$ select now() $$",
      ),
    );
    assert.equal(status, 200);
    assert.equal(gateway.sandbox.callCount, 1);
  });
}

test("storage.failover: while the server crashes, is gone and recovers, every answer is a success or 503 OVERLOADED", async () => {
  const all = Object.entries(requests("crash"));
  const back = new AbortController();
  const restart = postgres.restart({ crash: true, downMs: 500 }).finally(() => back.abort());
  const answers: (readonly [string, Answer])[] = [];
  while (!back.signal.aborted)
    await Promise.all(
      all.map(async ([name, send]) => {
        answers.push([name, await send()]);
      }),
    );
  await restart;
  for (const [name, answer] of answers) {
    if (answer.status < 300 || answer.code === "IDEMPOTENCY_REPLAY_IN_PROGRESS") continue;
    // A call that was under way must not be repeated.
    if (answer.code === "PROVIDER_RESULT_UNKNOWN") continue;
    assert.deepEqual([answer.status, answer.code], [503, "OVERLOADED"], `${name}: ${answer.text}`);
  }
  for (const [name, send] of all) {
    const { status, code, text } = await untilAccepted(send);
    assert.ok(status < 300 || code === "IDEMPOTENT_RESULT_UNAVAILABLE", `${name}: ${status} ${text}`);
  }
});
