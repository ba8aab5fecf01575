// Secrets, transcripts and prompts in every kind of request, good and bad: none of them appears in what the gateway writes, answers or
// stores, except sealed or hashed [logs.secrecy].
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { ADMIN_ENDPOINTS } from "../../src/contract/endpoints/admin-endpoints.ts";
import { ENDPOINTS } from "../../src/contract/endpoints/endpoints.ts";
import type { Sandbox } from "../../sandbox/server.ts";
import type { ConfigurationFile } from "../../src/config/schema/file.ts";
import { httpServer, readAll } from "../outbound/loopback.ts";
import { pretendInternet } from "../outbound/pretend-internet.ts";
import { speech } from "../harness/client.ts";
import { configurationWith } from "../harness/configuration.ts";
import { startGateway, type TestGateway } from "../harness/gateway.ts";
import { ended } from "../http/jobs/jobs.ts";
import { dumpTables } from "../jobs/setting.ts";
import { startCollector } from "../telemetry/collector.ts";
import { type Canaries, createCanaries } from "./canaries.ts";
import { MOODS, startFarEnd } from "./far-end.ts";

/** Above it a result goes into the object store. */
const INLINE_BYTES = 1_000;

interface Keys {
  readonly member: string;
  readonly admin: string;
  readonly operator: string;
}

function fileWith(canaries: Canaries, keys: Keys, farEnd: string, sandbox: Sandbox): ConfigurationFile {
  const credential = () => canaries.make("credential");
  return configurationWith(sandbox, {
    limits: { stt_job_inline_result_bytes: INLINE_BYTES },
    connections: {
      dg: { kind: "deepgram", api_key: credential() },
      oa: { kind: "openai", api_key: credential() },
      far: { kind: "openai", api_key: credential(), base_url: farEnd },
      words: {
        kind: "openai-compatible",
        api_key: credential(),
        base_url: farEnd,
        models: { one: { capabilities: ["chat"], features: { tools: true, response_format: ["json_object"] } } },
      },
    },
    routes: { speech: "far/whisper-1", chat: "words/one" },
    operator: keys.operator,
    admin: keys.admin,
    apps: { notes: { route: "chat", audio_input_override: "speech", keys: { member: keys.member } } },
    workspaces: {
      acme: {
        connections: { own: { kind: "deepgram", api_key: credential() } },
        audio_url_domains: ["media.example"],
      },
    },
  });
}

interface Asking {
  readonly path: string;
  readonly method?: string;
  readonly key?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: FormData | string | object;
}

/** Asks, and keeps every body that is an error's. */
function createAsker({ origin, adminOrigin }: TestGateway, key: string) {
  const errors: string[] = [];
  const answers: string[] = [];
  const ask = async (asking: Asking): Promise<{ readonly status: number; readonly text: string }> => {
    const { path, method = "POST", headers = {}, body } = asking;
    const isForm = body instanceof FormData;
    const payload = body === undefined || isForm || typeof body === "string" ? body : JSON.stringify(body);
    const response = await fetch(`${path.startsWith("/admin/") ? adminOrigin : origin}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${asking.key ?? key}`,
        ...(isForm || body === undefined ? {} : { "content-type": "application/json" }),
        ...headers,
      },
      ...(payload === undefined ? {} : { body: payload }),
    });
    const text = await response.text().catch(() => "");
    (response.ok ? answers : errors).push(`${[...response.headers].join(" ")} ${text}`);
    return { status: response.status, text };
  };
  return { ask, errors, answers };
}

test("logs.secrecy, tenancy.no-content-outside: R12, of more than 100 canaries none is in logs, traces, metrics, errors, records, a dump or the data directory", async (t) => {
  const canaries = createCanaries();
  const secret = (kind: string) => canaries.make(kind);
  const keys = { member: secret("key"), admin: secret("key"), operator: secret("key") };
  await using collector = await startCollector();
  let isLong = false;
  await using farEnd = await startFarEnd(() => `${secret("transcript")}${isLong ? " and so on".repeat(100) : ""}`);
  const internet = pretendInternet();
  internet.name("media.example", ["93.184.216.34"]);
  internet.server(
    "93.184.216.34",
    await httpServer(t, async (request, response) => {
      await readAll(request);
      if (request.url?.includes("gone") === true) response.writeHead(404).end(secret("transcript"));
      else response.writeHead(200, { "content-type": "audio/wav" }).end(speech());
    }),
  );
  const gateway = await startGateway({
    file: (sandbox) => fileWith(canaries, keys, farEnd.url, sandbox),
    network: internet,
    otlp: { endpoint: collector.endpoint, headers: { authorization: secret("credential") }, serviceName: "gateway" },
  });
  t.after(() => gateway.close());
  const { ask, errors, answers } = createAsker(gateway, keys.member);
  const form = (fields: Readonly<Record<string, string>> = {}): FormData => {
    const data = new FormData();
    data.set("prompt", secret("prompt"));
    for (const [name, value] of Object.entries(fields)) data.set(name, value);
    data.set("file", new Blob([new Uint8Array(speech())]), `${secret("filename")}.wav`);
    return data;
  };
  const chat = (more: object = {}) => ({
    messages: [
      { role: "system", content: secret("prompt") },
      { role: "user", content: secret("prompt") },
    ],
    ...more,
  });
  const keyed = () => ({ "idempotency-key": secret("idempotency"), "x-trace-canary": secret("header") });

  for (const mood of MOODS) {
    farEnd.feel(mood);
    await ask({ path: "/v1/transcription", body: form(), headers: keyed() });
    await ask({ path: "/v1/transcription", body: form({ stream: "true" }) });
    await ask({ path: "/v1/translation", body: form() });
    await ask({ path: "/v1/audio/transcriptions", body: form({ model: "auto" }) });
    await ask({ path: "/v1/chat", body: chat(), headers: keyed() });
    await ask({ path: "/v1/chat", body: chat({ stream: true }) });
    await ask({ path: "/v1/chat/completions", body: { ...chat(), model: "auto" } });
    const job = await ask({ path: "/v1/transcription/jobs", body: form(), headers: keyed() });
    if (job.status !== 202) continue;
    const { job_id: id } = JSON.parse(job.text) as { readonly job_id: string };
    await ended(gateway.origin, id, keys.member);
    await ask({ path: `/v1/transcription/jobs/${id}`, method: "GET" });
    // Its model does not stream, which is the one refusal while all is well.
    if (mood === "well")
      assert.deepEqual(
        errors.map((text) => /REQUIRED_FEATURE_UNSUPPORTED/u.test(text)),
        [true],
      );
  }
  farEnd.feel("well");
  isLong = true;
  const large = await ask({ path: "/v1/transcription/jobs", body: form() });
  const { job_id: largeId } = JSON.parse(large.text) as { readonly job_id: string };
  const { result_url: resultUrl } = await ended(gateway.origin, largeId, keys.member);
  assert.ok(resultUrl !== null, "its result is in the object store");
  canaries.add("result_url", resultUrl.split("/").at(-1) ?? "");
  await ask({ path: resultUrl, method: "GET" });
  isLong = false;
  const again = { "idempotency-key": secret("idempotency") };
  const body = chat();
  for (let times = 0; times < 2; times += 1) await ask({ path: "/v1/chat", body, headers: again });
  await ask({ path: "/v1/chat", body: chat(), headers: again });
  for (const url of [
    `https://media.example/a.wav?sig=${secret("signed_url")}`,
    `https://media.example/gone-${secret("signed_url")}.wav?sig=${secret("signed_url")}`,
    `https://elsewhere.example/a.wav?sig=${secret("signed_url")}`,
    `https://user:${secret("signed_url")}@media.example/a.wav`,
    `http://127.0.0.1/${secret("signed_url")}`,
    `not a url ${secret("signed_url")}`,
  ]) {
    await ask({ path: "/v1/transcription", body: { audio: { url }, prompt: secret("prompt") } });
    const job = await ask({ path: "/v1/transcription/jobs", body: { audio: { url } } });
    if (job.status === 202)
      await ended(gateway.origin, (JSON.parse(job.text) as { readonly job_id: string }).job_id, keys.member);
  }
  await ask({ path: "/v1/chat", body: `{"messages": "${secret("prompt")}` });
  await ask({ path: "/v1/chat", body: { messages: secret("prompt") } });
  await ask({ path: "/v1/transcription", body: { audio: { base64: secret("prompt") } } });
  await ask({ path: "/v1/transcription", body: form({ language: secret("prompt") }) });
  await ask({ path: `/v1/${secret("path")}?token=${secret("signed_url")}`, body: {} });
  await ask({ path: "/v1/me", method: "GET", key: secret("key") });
  await ask({ path: "/v1/chat", body: chat(), key: `svc_live_${secret("key")}` });
  const token = await ask({ path: "/v1/transcription/realtime-token" });
  const minted = (JSON.parse(token.text) as { readonly token?: string }).token;
  if (minted !== undefined) canaries.add("realtime_token", minted);
  const webhook = { path: "/workspace/acme/stt-webhook", key: keys.admin };
  const hooks = `https://media.example/hooks/${secret("webhook_url")}?token=${secret("webhook_url")}`;
  await ask({ ...webhook, method: "PUT", body: { url: `https://media.example/${secret("webhook_url")}` } });
  const made = await ask({ ...webhook, method: "PUT", body: { url: hooks, rotate_secret: true } });
  const shown = await ask({ ...webhook, method: "GET" });
  assert.equal((JSON.parse(shown.text) as { readonly url: string }).url, hooks, "its owner sees it");
  const hook = (JSON.parse(made.text) as { readonly secret: string }).secret;
  canaries.add("webhook_secret", hook);
  canaries.add("webhook_secret", hook.replace(/^whsec_/u, ""));
  await ask({ ...webhook, path: `${webhook.path}/test` });

  // Every endpoint, for each kind of caller, with words of others in whatever it reads.
  const {
    key: inKey,
    path: inPath,
    query,
    body: inBody,
  } = {
    key: secret("any_key"),
    path: secret("any_path"),
    query: secret("any_query"),
    body: secret("any_body"),
  };
  const before = errors.length;
  for (const { method, path, requestBody } of [...ENDPOINTS, ...ADMIN_ENDPOINTS]) {
    const at = path.replace(":tenant_id", "acme").replaceAll(/:[a-z_]+/gu, inPath);
    const asking = { path: `${at}?token=${query}&limit=${query}`, method, headers: { "if-match": `"${query}"` } };
    const bodies =
      requestBody === undefined ? [undefined] : [{ [inBody.slice(0, 4)]: inBody, url: inBody, name: inBody }, inBody];
    for (const body of bodies) {
      for (const caller of [keys.member, keys.admin, keys.operator, inKey]) {
        if (!path.includes("/stream") && !path.endsWith("/metrics"))
          await ask({ ...asking, key: caller, ...(body === undefined ? {} : { body }) });
      }
    }
  }
  assert.ok(errors.length - before > ENDPOINTS.length, `${errors.length - before} errors of every endpoint`);

  await gateway.app.settled();
  await gateway.app.requestLog.flush();
  const records = await ask({ path: "/workspace/acme/requests?limit=100", method: "GET", key: keys.admin });
  const audits = await ask({ path: "/workspace/acme/audit?limit=100", method: "GET", key: keys.admin });
  assert.deepEqual([records.status, audits.status], [200, 200], records.text + audits.text);
  const metrics = await (await fetch(`${gateway.adminOrigin}/metrics`)).text();
  const dump = await dumpTables(gateway.database);
  const entries = readdirSync(gateway.dataDir, { recursive: true, withFileTypes: true });
  assert.ok(
    entries.some((entry) => entry.isFile() && entry.parentPath.includes(`results/${largeId}`)),
    "the large result is there to be searched",
  );
  const files = entries
    .filter((entry) => entry.isFile() && entry.name !== "patchbay.yaml")
    .map((entry) => readFileSync(join(entry.parentPath, entry.name)));
  await gateway.close();

  // The words were really said: a search that finds nothing anywhere would find nothing here.
  const { kinds, said } = {
    kinds: Map.groupBy(canaries.all(), ({ kind }) => kind),
    said: canaries.findIn(farEnd.heard() + answers.join()),
  };
  for (const kind of ["prompt as it is", "transcript as it is", "credential as it is", "webhook_secret as it is"])
    assert.ok(said.includes(kind), kind);
  assert.ok(canaries.all().length >= 100, `${canaries.all().length} canaries`);
  assert.ok(errors.length >= 50 && gateway.logs.length > errors.length && collector.spans().length > 50);
  const places = {
    logs: gateway.logs.join("\n"),
    traces: collector.texts.join("\n"),
    metrics,
    errors: errors.join("\n"),
    records: records.text,
    audits: audits.text,
    dump,
    ...Object.fromEntries(files.map((bytes, index) => [`file ${index}`, bytes])),
  };
  const hits = Object.entries(places).flatMap(([place, bytes]) =>
    canaries.findIn(bytes).map((hit) => `${place}: ${hit}`),
  );
  assert.deepEqual(hits, []);
  t.diagnostic(
    `${canaries.all().length} canaries (${[...kinds].map(([kind, { length }]) => `${length} ${kind}`).join(", ")}), ${answers.length} answers, ${errors.length} errors, ${gateway.logs.length} lines of log, ${collector.spans().length} spans, ${files.length} files`,
  );
});
