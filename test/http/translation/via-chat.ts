// A gateway whose speech models only transcribe and whose chat models are scripted far ends: translations go through both.
import type { Sandbox } from "../../../sandbox/server.ts";
import type { ConfigurationFile } from "../../../src/config/schema/file.ts";
import { generateKey } from "../../../src/auth/key-format.ts";
import { fixture } from "../../audio/build-audio.ts";
import { type ChatUpstream, startChatUpstream } from "../../harness/chat-upstream.ts";
import { type Answer, postForm, type TranscriptionCall } from "../../harness/client.ts";
import { startGateway, type TestGateway, type TestGatewayOptions } from "../../harness/gateway.ts";
import { attemptsOf } from "../chat/chat-gateway.ts";

type File = ConfigurationFile;
type App = NonNullable<NonNullable<File["workspaces"]>[number]["apps"]>[number];

/** One second exactly: 0.001 USD of nova-3. A chat of `one` costs 1 USD per million tokens in, 10 out. */
const AUDIO = fixture("speech-44k-stereo.wav");
export const SPEECH_CHARGE = 1_000_000n;
/** 11 tokens in and 3 out, as the far end reports. */
export const CHAT_CHARGE = 41_000n;
export const SECOND_CHAT_CHARGE = 52_000n;

const APPS = {
  via: {},
  native: { route: "native" },
  off: { route: "off" },
  mute: { route: "mute" },
  tokens: { budgets: [{ period: "total", limit_tokens: 500 }] },
  money: { budgets: [{ period: "total", limit_usd: "0.0105" }] },
  seconds: { budgets: [{ period: "total", limit_audio_seconds: 1 }] },
  quota: { quota: { tokens_per_minute: 10 } },
} as const satisfies Record<string, object>;
export type AppName = keyof typeof APPS | "own" | "planned" | "test";

const TEST_KEY = generateKey("test");
const secretOf = (app: AppName) => (app === "test" ? TEST_KEY : `test-key-of-the-app-${app}-000001`);

export interface ViaChat extends TestGateway {
  readonly first: ChatUpstream;
  readonly second: ChatUpstream;
}

export async function startViaChat(options: Omit<TestGatewayOptions, "file"> = {}): Promise<ViaChat> {
  const first = await startChatUpstream();
  const second = await startChatUpstream();
  const gateway = await startGateway({ ...options, file: (sandbox) => fileOf(sandbox, first, second) });
  return {
    ...gateway,
    first,
    second,
    close: async () => {
      await first.close();
      await second.close();
      await gateway.close();
    },
  };
}

function fileOf(sandbox: Sandbox, first: ChatUpstream, second: ChatUpstream): File {
  const speech = { connection: "dg", model: "nova-3" };
  const chats = [
    { connection: "first", model: "one" },
    { connection: "second", model: "two" },
  ];
  const app = (name: AppName, rest: object = {}): App => ({
    id: name,
    route: "via",
    keys: [{ id: `${name}-key`, secret: secretOf(name), scopes: ["transcribe", "jobs"] }],
    ...rest,
  });
  const connections = [
    { id: "dg", kind: "deepgram" as const, api_key: "dg-secret", base_url: sandbox.deepgramUrl },
    { id: "oa", kind: "openai" as const, api_key: "oa-secret", base_url: sandbox.openaiUrl },
    chatConnection("first", first.url, "one"),
    chatConnection("second", second.url, "two"),
  ];
  return {
    plans: [{ id: "starter", monthly_chat_tokens: 5_000, credits_usd: "1" }],
    prices: [
      { provider: "deepgram", model: "nova-3", usd_per_audio_hour: "3.6", source: "test", as_of: "2026-11-01" },
      ...["one", "two"].map((model, index) => ({
        provider: "openai-compatible" as const,
        model,
        usd_per_million_input_tokens: String(index + 1),
        usd_per_million_output_tokens: "10",
        source: "test",
        as_of: "2026-11-01",
      })),
    ],
    connections,
    routes: [
      { id: "via", targets: [speech, ...chats], translate_via_chat: true },
      { id: "native", targets: [speech, { connection: "oa", model: "whisper-1" }, ...chats], translate_via_chat: true },
      { id: "off", targets: [speech, ...chats] },
      { id: "mute", targets: [speech], translate_via_chat: true },
    ],
    workspaces: [
      {
        id: "acme",
        apps: [...Object.entries(APPS).map(([name, rest]) => app(name as AppName, rest)), app("test")],
      },
      { id: "own", connections: [...connections], apps: [app("own")] },
      { id: "planned", plan: "starter", apps: [app("planned")] },
    ],
  };
}

function chatConnection(id: string, baseUrl: string, model: string): NonNullable<File["connections"]>[number] {
  return {
    id,
    kind: "openai-compatible",
    api_key: `${id}-secret`,
    base_url: baseUrl,
    timeout_seconds: 5,
    models: { [model]: { capabilities: ["chat"], limits: { max_output_tokens: 1_000 } } },
  };
}

/** Into French, which no speech model here can, unless said otherwise. */
export function translateVia(
  gateway: TestGateway,
  app: AppName = "via",
  { fields = {}, ...call }: TranscriptionCall = {},
): Promise<Answer> {
  return postForm(gateway.origin, {
    key: secretOf(app),
    path: "/v1/translation",
    file: AUDIO,
    fields: { to_language: "fr", ...fields },
    ...call,
  });
}

export function keyOf(app: AppName): string {
  return secretOf(app);
}

/** What one request left in the ledger: model, outcome, charge and billed milliseconds. */
export async function attemptsIn(gateway: TestGateway, answer: Answer) {
  const requestId = answer.headers.get("x-request-id");
  const rows = (await attemptsOf(gateway)).filter((row) => row.request_id === requestId);
  return rows.map((row) => [row.model, row.outcome, row.charge_nano_usd, row.billable_audio_ms] as const);
}
