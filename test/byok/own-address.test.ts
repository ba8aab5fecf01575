// A workspace's own connection at an address that the workspace named: every call passes the guard, whatever the wire, within the ranges
// that the operator opened.
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import type { Sandbox } from "../../sandbox/server.ts";
import { sealCredential } from "../../src/directory/connection-credential.ts";
import type { ConfigurationFile } from "../../src/config/schema/file.ts";
import { putConnection } from "../../src/directory/store/connections.ts";
import { createSeal } from "../../src/storage/secrets/seal.ts";
import { HELLO, postChat, streamChat } from "../harness/chat-client.ts";
import { type ChatUpstream, startChatUpstream } from "../harness/chat-upstream.ts";
import { envelopeOf, postForm } from "../harness/client.ts";
import { configurationWith } from "../harness/configuration.ts";
import { ENCRYPTION_KEY, KEY, startGateway, type TestGateway } from "../harness/gateway.ts";
import { call, envelopeIn, speak } from "../http/realtime/setup.ts";
import { type PretendInternet, pretendInternet } from "../outbound/pretend-internet.ts";

const PUBLIC = "93.184.216.34";
const OPENED = "10.20.30.40";
const seal = createSeal({ keys: [ENCRYPTION_KEY] });
const closers: (() => unknown)[] = [];
let internet: PretendInternet;
let upstream: ChatUpstream;
let gateway: TestGateway;
before(async () => {
  internet = pretendInternet();
  upstream = await startChatUpstream();
  closers.push(() => upstream.close());
  gateway = await startGateway({ network: internet, file: byokFile });
  internet.server(PUBLIC, new URL(gateway.sandbox.origin));
  internet.server(OPENED, new URL(gateway.sandbox.origin));
});
after(async () => {
  await gateway.close();
  for (const close of closers.toReversed()) await close();
});
beforeEach(() => {
  gateway.sandbox.clearCalls();
  gateway.sandbox.clearFaults();
  internet.lookups.length = 0;
  internet.dialled.length = 0;
  internet.name("own.example", [PUBLIC]);
});

/** No host answers at the shared connections: a request that succeeds was served by the workspace's own account, or by the second target. */
function byokFile(sandbox: Sandbox): ConfigurationFile {
  const nowhere = "http://127.0.0.1:9";
  return configurationWith(sandbox, {
    byok: { allowed_private_cidrs: ["10.20.0.0/16"] },
    scopes: ["transcribe", "chat", "routing:read"],
    connections: {
      dg: { kind: "deepgram", base_url: nowhere },
      llm: {
        kind: "openai-compatible",
        base_url: `${nowhere}/v1`,
        models: { one: { capabilities: ["chat"], limits: { max_output_tokens: 100 } } },
      },
    },
    routes: { speech: ["dg/nova-3", "oa/whisper-1"], chat: "llm/one" },
    apps: { notes: { route: "chat", audio_input_override: "speech", key: KEY } },
  });
}

/** As the API leaves it. */
async function own(id: string, kind: string, baseUrl: string, models: object = {}): Promise<void> {
  const { database } = gateway;
  await database.transaction(async (tx) => {
    const { id: scope } = await tx
      .selectFrom("workspaces")
      .select("id")
      .where("slug", "=", "acme")
      .executeTakeFirstOrThrow();
    await putConnection(
      tx,
      { scope, id },
      {
        kind,
        base_url: baseUrl,
        credential: await sealCredential(tx, seal, { scope, id }, "own-secret-0001"),
        credential_last4: "0001",
        settings: JSON.stringify({ models }),
        managed_by: "api",
      },
    );
  });
  await gateway.app.refreshDirectory();
}

const servedBy = () => gateway.sandbox.calls.map(({ wire }) => wire);

test("providers.byok-guard, providers.byok-replaces: a file is sent to the address that was checked for this call, by the workspace's own account", async () => {
  await own("dg", "deepgram", "https://own.example/deepgram");
  const { svc_purpose_source } = envelopeOf(await postForm(gateway.origin));
  assert.equal(svc_purpose_source, "none");
  assert.deepEqual(servedBy(), ["deepgram"]);
  assert.deepEqual(internet.lookups, ["own.example"]);
  assert.deepEqual(internet.dialled, [{ address: PUBLIC, port: 443, tlsName: "own.example" }]);
});

test("providers.byok-guard: a name that resolves to a private address by the time of the call is not dialled; the next target serves", async () => {
  await own("dg", "deepgram", "https://own.example/deepgram");
  for (const inside of ["127.0.0.1", "169.254.169.254", "10.99.0.1", "::1"]) {
    internet.name("own.example", [inside]);
    gateway.sandbox.clearCalls();
    envelopeOf(await postForm(gateway.origin));
    assert.deepEqual(servedBy(), ["openai"], inside);
  }
  assert.deepEqual(internet.dialled, []);
  assert.equal(internet.canaryConnections(), 0);
});

test("providers.byok-private-ranges: plain http reaches the ranges that the operator opened, and no public address", async () => {
  await own("dg", "deepgram", `http://${OPENED}:8000/deepgram`);
  envelopeOf(await postForm(gateway.origin));
  assert.deepEqual(servedBy(), ["deepgram"]);
  assert.deepEqual(internet.dialled, [{ address: OPENED, port: 8000, tlsName: null }]);
  internet.dialled.length = 0;
  await own("dg", "deepgram", "http://own.example/deepgram");
  envelopeOf(await postForm(gateway.origin));
  assert.deepEqual(internet.dialled, []);
});

test("providers.byok-guard: a chat, plain and streamed, passes the guard; its stream is read to the end", async () => {
  internet.name("llm.example", ["93.184.216.35"]);
  internet.server("93.184.216.35", new URL(upstream.url));
  await own("llm", "openai-compatible", "https://llm.example/v1", {
    one: { capabilities: ["chat"], limits: { maxOutputTokens: 100 } },
  });
  assert.equal((await postChat(gateway.origin, { messages: HELLO })).status, 200);
  const streamed = await streamChat(gateway.origin, {});
  assert.deepEqual([streamed.broke, streamed.events.at(-1)?.event], [false, "chat.completed"]);
  assert.deepEqual(
    internet.dialled.map(({ address }) => address),
    ["93.184.216.35", "93.184.216.35"],
  );
  assert(upstream.calls.every(({ headers }) => headers.authorization === "Bearer own-secret-0001"));
  internet.name("llm.example", ["192.168.0.1"]);
  assert.equal((await postChat(gateway.origin, { messages: HELLO })).code, "all_providers_exhausted");
  assert.equal((await streamChat(gateway.origin, {})).status, 503);
});

test("providers.byok-guard: live audio passes the guard too", async () => {
  await own("dg", "deepgram", "https://own.example/deepgram");
  const caller = await call(gateway.origin);
  await speak(caller);
  assert.deepEqual(await caller.closed, [1000, ""]);
  assert(envelopeIn(caller).content.length > 0);
  assert.deepEqual(internet.dialled, [{ address: PUBLIC, port: 443, tlsName: "own.example" }]);
  internet.name("own.example", ["127.0.0.1"]);
  const refused = await call(gateway.origin);
  await speak(refused);
  assert.notEqual((await refused.closed)[0], 1000);
  assert.equal(internet.canaryConnections(), 0);
});

test("providers.file-address: an address in the configuration file is the operator's and is not checked", async () => {
  const { database } = gateway;
  await own("dg", "deepgram", gateway.sandbox.deepgramUrl);
  await database.db
    .updateTable("connections")
    .set({ managed_by: "file" })
    .where("base_url", "=", gateway.sandbox.deepgramUrl)
    .execute();
  await gateway.app.refreshDirectory();
  envelopeOf(await postForm(gateway.origin));
  assert.deepEqual([servedBy(), internet.lookups], [["deepgram"], []]);
});
