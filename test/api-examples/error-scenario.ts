// Requests that provoke errors on a gateway with simulated providers, by the code that each has to get.
import { request as httpRequest, type IncomingMessage } from "node:http";
import { once } from "node:events";
import { json } from "node:stream/consumers";
import type { Sandbox } from "../../sandbox/server.ts";
import { type ErrorBody, errorBody } from "../../src/contract/error-body.ts";
import type { ErrorCode } from "../../src/contract/errors.ts";
import { configurationWith } from "../harness/configuration.ts";
import { startGateway, type TestGateway } from "../harness/gateway.ts";
import { httpServer } from "../outbound/loopback.ts";
import { pretendInternet } from "../outbound/pretend-internet.ts";
import { wav } from "../sandbox/wav.ts";
import type { TestContext } from "node:test";
import { askClosing, failingReservations, type NextReservation, sendSlowly, whileHeld } from "./error-conditions.ts";

const KEYS = {
  notes: "test-key-of-an-app-that-does-all",
  plain: "test-key-of-an-app-with-whisper1",
  drops: "test-key-of-an-app-with-deepgram",
  poor: "test-key-of-an-app-with-no-money",
  slow: "test-key-of-an-app-with-one-call",
  single: "test-key-of-an-app-one-at-a-time",
  hasty: "test-key-of-an-app-with-deadline",
  unfunded: "test-key-of-a-workspace-no-funds",
  listener: "test-key-without-the-scope-chat1",
  admin: "test-key-of-the-administrator-01",
} as const;
type KeyName = keyof typeof KEYS;
const PUBLIC = "93.184.216.34";
const MAX_AUDIO_BYTES = 1_000_000;
const HEADER_FIELDS = 101;
const LONG_TARGET = 9_000;
const AUDIO = wav(2);
const HELLO = { messages: [{ role: "user", content: "Hello" }] };

interface Asking {
  readonly key?: KeyName | null;
  readonly headers?: Readonly<Record<string, string>>;
  readonly json?: unknown;
  readonly form?: Readonly<Record<string, string | Uint8Array>>;
}

type Ask = (method: string, path: string, asking?: Asking) => Promise<ErrorBody | null>;

/** What a few errors need in addition to requests and faults of the providers. */
interface Around {
  readonly t: TestContext;
  readonly gateway: TestGateway;
  readonly reservations: NextReservation;
}

/** Each starts without faults of the providers. */
type Provocation = (ask: Ask, sandbox: Sandbox, around: Around) => Promise<ErrorBody | null>;

const transcribe = (ask: Ask, asking: Asking = {}): Promise<ErrorBody | null> =>
  ask("POST", "/v1/transcription", { ...asking, form: { file: AUDIO, ...asking.form } });
const broken = (sandbox: Sandbox, status: number): void => sandbox.addFault({ fault: { kind: "status", status } });
const APPS = "/workspace/acme/apps";

const PROVOCATIONS: Readonly<Record<ErrorCode, Provocation>> = {
  INVALID_REQUEST: (ask) => transcribe(ask, { form: { timestamp: "word" } }),
  ROUTE_CONTROL_FIELD_REJECTED: (ask) => transcribe(ask, { form: { model: "nova-3" } }),
  AUDIO_URL_REJECTED: (ask) =>
    ask("POST", "/v1/transcription", { json: { audio: { url: "https://elsewhere.example/call.mp3" } } }),
  MODEL_NOT_SELECTABLE: (ask) => ask("POST", "/v1/chat/completions", { json: { ...HELLO, model: "gpt-4o" } }),
  UNAUTHENTICATED: (ask) => ask("GET", "/v1/me", { key: null }),
  BUDGET_EXCEEDED: (ask) => transcribe(ask, { key: "poor" }),
  CREDITS_REQUIRED: (ask) => transcribe(ask, { key: "unfunded" }),
  FORBIDDEN: (ask) => ask("POST", "/v1/chat", { key: "listener", json: HELLO }),
  JOB_NOT_FOUND: (ask) => ask("GET", "/v1/transcription/jobs/job_01kaj3v9q8f0t5x2m7c4r6d1nf"),
  NOT_FOUND: (ask) => ask("POST", "/v1/transcriptions", { json: {} }),
  METHOD_NOT_ALLOWED: (ask) => ask("GET", "/v1/transcription"),
  NOT_ACCEPTABLE: (ask) => transcribe(ask, { headers: { accept: "image/png" } }),
  REQUEST_TIMEOUT: (_ask, _sandbox, { t }) => sendSlowly(t),
  URI_TOO_LONG: (ask) => ask("GET", `/v1/me?${"x".repeat(LONG_TARGET)}`),
  EXPECTATION_FAILED: (ask) => ask("GET", "/v1/me", { headers: { expect: "200-ok" } }),
  HEADERS_TOO_LARGE: (ask) =>
    ask("GET", "/v1/me", {
      headers: Object.fromEntries(Array.from({ length: HEADER_FIELDS }, (_, index) => [`x-field-${index}`, "1"])),
    }),
  IDEMPOTENCY_KEY_REUSED: async (ask) => {
    const headers = { "idempotency-key": "one-key-for-two-requests" };
    await transcribe(ask, { headers });
    return transcribe(ask, { headers, form: { language: "de" } });
  },
  IDEMPOTENCY_REPLAY_IN_PROGRESS: (ask, _sandbox, { gateway }) => {
    const again = () => transcribe(ask, { headers: { "idempotency-key": "one-key-for-a-running-request" } });
    return whileHeld(gateway, again, again);
  },
  IDEMPOTENT_RESULT_UNAVAILABLE: async (ask, sandbox) => {
    sandbox.addFault({ fault: { kind: "reset_after_body" } });
    const asking = { key: "drops", headers: { "idempotency-key": "one-key-for-a-broken-request" } } as const;
    await transcribe(ask, asking);
    return transcribe(ask, asking);
  },
  MANAGED_BY_FILE: (ask) => ask("DELETE", `${APPS}/notes`, { key: "admin" }),
  CONFLICT: (ask) => ask("POST", APPS, { key: "admin", json: { slug: "notes", route: "speech" } }),
  PRECONDITION_REQUIRED: async (ask) => {
    await ask("POST", APPS, { key: "admin", json: { slug: "support", route: "speech" } });
    return ask("PUT", `${APPS}/support`, { key: "admin", json: { route: "speech" } });
  },
  PRECONDITION_FAILED: async (ask) => {
    await ask("POST", APPS, { key: "admin", json: { slug: "billing", route: "speech" } });
    const headers = { "if-match": '"outdated"' };
    return ask("PUT", `${APPS}/billing`, { key: "admin", json: { route: "speech" }, headers });
  },
  AUDIO_TOO_LARGE: (ask) => transcribe(ask, { form: { file: new Uint8Array(MAX_AUDIO_BYTES + 1) } }),
  BODY_TOO_LARGE: (ask) => ask("POST", APPS, { key: "admin", json: { slug: "x".repeat(2_000_000) } }),
  UNSUPPORTED_MEDIA_TYPE: (ask) => ask("POST", "/v1/transcription", { headers: { "content-type": "text/plain" } }),
  INVALID_AUDIO: (ask) => transcribe(ask, { form: { file: new Uint8Array(0) } }),
  AUDIO_TOO_LONG: (ask) => transcribe(ask, { form: { file: wav(61) } }),
  AUDIO_FETCH_FAILED: (ask) =>
    ask("POST", "/v1/transcription", { json: { audio: { url: "https://media.example.com/missing.mp3" } } }),
  REQUIRED_FEATURE_UNSUPPORTED: (ask) => transcribe(ask, { key: "plain", form: { diarization: "true" } }),
  RATE_LIMITED: async (ask) => {
    for (let sent = 0; sent < 2; sent += 1) await transcribe(ask, { key: "slow" });
    return transcribe(ask, { key: "slow" });
  },
  CONCURRENCY_LIMITED: (ask, _sandbox, { gateway }) => {
    const another = () => transcribe(ask, { key: "single" });
    return whileHeld(gateway, another, another);
  },
  FEATURE_NOT_DELIVERED: (ask, sandbox) => {
    sandbox.addFault({ fault: { kind: "drop", feature: "diarization" } });
    return transcribe(ask, { key: "drops", form: { diarization: "true" } });
  },
  PROVIDER_REJECTED: (ask, sandbox) => {
    broken(sandbox, 400);
    return transcribe(ask, { key: "drops" });
  },
  PROVIDER_RESULT_UNKNOWN: (ask, sandbox) => {
    sandbox.addFault({ fault: { kind: "reset_after_body" } });
    return transcribe(ask, { key: "drops" });
  },
  audio_purpose_unavailable: (ask) => transcribe(ask, { form: { purpose: "meetings", purpose_policy: "strict" } }),
  NO_HEALTHY_PROVIDER: (ask, sandbox) => {
    broken(sandbox, 503);
    return transcribe(ask, { key: "drops" });
  },
  all_providers_exhausted: (ask, sandbox) => {
    broken(sandbox, 503);
    return ask("POST", "/v1/chat", { json: HELLO });
  },
  OVERLOADED: (ask, _sandbox, { reservations }) => {
    reservations.failWith(Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" }));
    return transcribe(ask);
  },
  SHUTTING_DOWN: (_ask, _sandbox, { gateway }) => askClosing(gateway, errorFile, KEYS.notes),
  PROVIDER_TIMEOUT: (ask, sandbox) => {
    sandbox.addFault({ fault: { kind: "stall" } });
    return transcribe(ask, { key: "hasty" });
  },
  INTERNAL: (ask, _sandbox, { reservations }) => {
    reservations.failWith(new Error("a defect"));
    return transcribe(ask);
  },
};

export interface ErrorWorld {
  readonly provoke: (code: ErrorCode) => Promise<ErrorBody | null>;
}

export async function openErrorWorld(t: TestContext): Promise<ErrorWorld> {
  const internet = pretendInternet();
  internet.name("media.example.com", [PUBLIC]);
  const missing = await httpServer(t, (_request, response) => void response.writeHead(404).end());
  internet.server(PUBLIC, missing);
  const reservations = failingReservations();
  const { wrapGateway } = reservations;
  const gateway = await startGateway({ file: errorFile, network: internet, wrapGateway });
  t.after(() => gateway.close());
  const ask: Ask = (method, path, asking) => send(gateway, method, path, asking);
  return {
    provoke: async (code) => {
      gateway.sandbox.clearFaults();
      return PROVOCATIONS[code](ask, gateway.sandbox, { t, gateway, reservations });
    },
  };
}

/** Null: the request succeeded. */
async function send(
  { origin }: TestGateway,
  method: string,
  path: string,
  { key = "notes", headers = {}, json: document, form }: Asking = {},
): Promise<ErrorBody | null> {
  const { body, type } = await encode(document, form);
  const sent = httpRequest(`${origin}${path}`, {
    method,
    headers: {
      ...(key === null ? {} : { authorization: `Bearer ${KEYS[key]}` }),
      ...(type === null ? {} : { "content-type": type }),
      "content-length": body.length,
      ...headers,
    },
  });
  // A refusal may close the connection before the whole body was written.
  sent.on("error", () => undefined);
  sent.end(body);
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  const answer = await json(response);
  return response.statusCode !== undefined && response.statusCode < 400 ? null : errorBody.parse(answer);
}

async function encode(
  document: unknown,
  form: Asking["form"],
): Promise<{ readonly body: Buffer; readonly type: string | null }> {
  if (document !== undefined) return { body: Buffer.from(JSON.stringify(document)), type: "application/json" };
  if (form === undefined) return { body: Buffer.alloc(0), type: null };
  const data = new FormData();
  for (const [name, value] of Object.entries(form))
    if (typeof value === "string") data.append(name, value);
    else data.append(name, new Blob([new Uint8Array(value)]), "call.wav");
  const encoded = new Response(data);
  return { body: Buffer.from(await encoded.arrayBuffer()), type: encoded.headers.get("content-type") };
}

function errorFile(sandbox: Sandbox) {
  return configurationWith(sandbox, {
    limits: { max_audio_bytes: MAX_AUDIO_BYTES, max_audio_duration_seconds: 60 },
    prices: { "deepgram/nova-3": "0.26", "openai/whisper-1": "0.36", "openai/gpt-4o-mini": ["0.15", "0.60"] },
    plans: { empty: { monthly_chat_tokens: 1_000, credits_usd: "0" } },
    scopes: ["transcribe", "chat", "jobs"],
    connections: { deepgram: "deepgram", openai: "openai", hasty: { kind: "deepgram", timeout_seconds: 1 } },
    routes: {
      speech: ["deepgram/nova-3", "openai/whisper-1"],
      plain: "openai/whisper-1",
      drops: "deepgram/nova-3",
      hasty: "hasty/nova-3",
      chat: "openai/gpt-4o-mini",
    },
    admin: KEYS.admin,
    workspaces: {
      acme: { audio_url_domains: ["media.example.com"] },
      research: { plan: "empty", apps: { unfunded: { route: "speech", key: KEYS.unfunded } } },
    },
    apps: {
      notes: { route: "chat", audio_input_override: "speech", key: KEYS.notes },
      plain: { key: KEYS.plain },
      drops: { key: KEYS.drops },
      hasty: { key: KEYS.hasty },
      single: { route: "speech", key: KEYS.single, quota: { concurrent: 1 } },
      poor: { route: "speech", key: KEYS.poor, budgets: [{ period: "month", limit_usd: "0.0001" }] },
      slow: { route: "speech", key: KEYS.slow, quota: { requests_per_minute: 2 } },
      listener: { route: "speech", keys: { listener: { secret: KEYS.listener, scopes: ["transcribe"] } } },
    },
  });
}
