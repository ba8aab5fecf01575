// A gateway whose speech models only transcribe and whose chat models are scripted far ends: translations go through both.
import type { Sandbox } from "../../../sandbox/server.ts";
import type { ConfigurationFile } from "../../../src/config/schema/file.ts";
import { generateKey } from "../../../src/auth/key-format.ts";
import { fixture } from "../../audio/build-audio.ts";
import { type ChatUpstream, startChatUpstream } from "../../harness/chat-upstream.ts";
import { type Answer, postForm, type TranscriptionCall } from "../../harness/client.ts";
import { type AppParts, configurationWith, type ConnectionSettings } from "../../harness/configuration.ts";
import { startGateway, type TestGateway, type TestGatewayOptions } from "../../harness/gateway.ts";
import { attemptsOf } from "../chat/chat-gateway.ts";

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
} satisfies Record<string, AppParts>;
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

function fileOf(sandbox: Sandbox, first: ChatUpstream, second: ChatUpstream): ConfigurationFile {
  const chats = ["first/one", "second/two"];
  const app = (name: AppName, settings: AppParts = {}) => ({
    [name]: { route: "via", key: secretOf(name), ...settings },
  });
  const connections = {
    dg: "deepgram",
    oa: "openai",
    first: chatConnection(first.url, "one"),
    second: chatConnection(second.url, "two"),
  } as const;
  return configurationWith(sandbox, {
    scopes: ["transcribe", "jobs"],
    plans: { starter: { monthly_chat_tokens: 5_000, credits_usd: "1" } },
    prices: {
      "deepgram/nova-3": "3.6",
      "openai-compatible/one": ["1", "10"],
      "openai-compatible/two": ["2", "10"],
    },
    connections,
    routes: {
      via: { targets: ["dg/nova-3", ...chats], translate_via_chat: true },
      native: { targets: ["dg/nova-3", "oa/whisper-1", ...chats], translate_via_chat: true },
      off: ["dg/nova-3", ...chats],
      mute: { targets: "dg/nova-3", translate_via_chat: true },
    },
    apps: Object.assign({}, ...Object.entries(APPS).map(([name, more]) => app(name as AppName, more)), app("test")),
    workspaces: {
      own: { connections, apps: app("own") },
      planned: { plan: "starter", apps: app("planned") },
    },
  });
}

function chatConnection(url: string, model: string): ConnectionSettings {
  return {
    kind: "openai-compatible",
    base_url: url,
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
