// A gateway that takes audio and chat, and the records that its requests leave.
import assert from "node:assert/strict";
import { setImmediate as turn } from "node:timers/promises";
import { type RequestRecordView, requestRecord } from "../../../src/contract/requests.ts";
import { type Answer, get } from "../../harness/client.ts";
import { type ConfigurationParts, target } from "../../harness/configuration.ts";
import { KEY, OTHER_KEY, type TestGateway, type TestGatewayOptions } from "../../harness/gateway.ts";
import { type ChatGateway, startChatGateway } from "../chat/chat-gateway.ts";

/** Of the app of `KEY`, which cannot see names. */
export const SEEING_KEY = "test-key-that-reads-routing-1";
export const OPERATOR_KEY = "test-key-of-the-operator-0000001";
export const ADMIN_KEY = "test-key-of-the-administrator-01";
export const NARROW_KEY = "test-key-that-chats-only-0001";
/** An app whose budget and quota are spent at once. */
export const POOR_KEY = "test-key-of-the-poor-app-001";
export const SLOW_KEY = "test-key-of-the-slow-app-001";
/** An app whose route holds nothing that takes audio, and no purpose. */
export const STRICT_KEY = "test-key-of-the-strict-app-1";

const AUDIO = { route: "chat", audio_input_override: "speech" };
const parts: ConfigurationParts = {
  scopes: ["transcribe", "chat", "jobs"],
  operator: OPERATOR_KEY,
  admin: ADMIN_KEY,
  prices: { "deepgram/nova-3": "3.6", "openai/whisper-1": "7.2" },
  routes: {
    speech: {
      targets: [target("dg/nova-3", { profiles: ["fast"] }), "oa/whisper-1", "oa/gpt-4o-transcribe", "first/one"],
      purposes: { meetings: "speech" },
    },
    // Without money nothing of it can be tried; a target that costs nothing could.
    "priced-speech": "dg/nova-3",
  },
  apps: {
    notes: {
      ...AUDIO,
      keys: {
        notes: KEY,
        seeing: { secret: SEEING_KEY, scopes: ["transcribe", "chat", "jobs", "routing:read"] },
        narrow: { secret: NARROW_KEY, scopes: ["chat"] },
      },
    },
    poor: {
      route: "chat",
      audio_input_override: "priced-speech",
      budgets: [{ period: "total", limit_usd: "0" }],
      key: POOR_KEY,
    },
    slow: { ...AUDIO, quota: { requests_per_minute: 1 }, scopes: ["transcribe"], key: SLOW_KEY },
    strict: { route: "chat", audio_purpose_policy: "strict", scopes: ["transcribe"], key: STRICT_KEY },
  },
  workspaces: { other: { apps: { app: { ...AUDIO, key: OTHER_KEY } } } },
};

export async function startRecordGateway(gateway: Pick<TestGatewayOptions, "network"> = {}): Promise<ChatGateway> {
  return startChatGateway({ with: () => parts, gateway });
}

export const idOf = (answer: Answer): string => answer.headers.get("x-request-id") ?? "";

/** Once it is there; the promise of 5 s is a deadline of the log's own, not of a test's. */
export async function recordOf(
  gateway: TestGateway,
  answer: Answer | string,
  key = SEEING_KEY,
): Promise<RequestRecordView> {
  const id = typeof answer === "string" ? answer : idOf(answer);
  for (;;) {
    await written(gateway);
    const found = await get(gateway.origin, `/v1/requests/${id}`, key);
    if (found.status !== 404) {
      assert.equal(found.status, 200, found.text);
      return requestRecord.parse(found.json);
    }
    await turn();
  }
}

/** What chats used, and the records so far. */
export async function written({ app }: TestGateway): Promise<void> {
  await app.settled();
  await app.requestLog.flush();
}
