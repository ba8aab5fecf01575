// A gateway that takes audio and chat, and the records that its requests leave.
import assert from "node:assert/strict";
import { setImmediate as turn } from "node:timers/promises";
import type { Sandbox } from "../../../sandbox/server.ts";
import type { ConfigurationFile } from "../../../src/config/schema/file.ts";
import { type RequestRecordView, requestRecord } from "../../../src/contract/requests.ts";
import { type Answer, get } from "../../harness/client.ts";
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

export async function startRecordGateway(gateway: Pick<TestGatewayOptions, "network"> = {}): Promise<ChatGateway> {
  return startChatGateway({ file: fileOf, gateway });
}

function fileOf(base: ConfigurationFile, sandbox: Sandbox): ConfigurationFile {
  const key = (
    id: string,
    secret: string,
    ...scopes: readonly ("transcribe" | "chat" | "jobs" | "routing:read")[]
  ) => ({
    id,
    secret,
    scopes: [...scopes],
  });
  const audio = { route: "chat", audio_input_override: "speech" };
  return {
    ...base,
    operator_keys: [{ id: "root", secret: OPERATOR_KEY }],
    prices: [
      ...(base.prices ?? []),
      { provider: "deepgram", model: "nova-3", usd_per_audio_hour: "3.6", source: "test", as_of: "2026-11-01" },
      { provider: "openai", model: "whisper-1", usd_per_audio_hour: "7.2", source: "test", as_of: "2026-11-01" },
    ],
    connections: [
      ...(base.connections ?? []),
      { id: "dg", kind: "deepgram", api_key: "dg-secret", base_url: sandbox.deepgramUrl },
      { id: "oa", kind: "openai", api_key: "oa-secret", base_url: sandbox.openaiUrl },
    ],
    routes: [
      ...(base.routes ?? []),
      {
        id: "speech",
        targets: [
          { connection: "dg", model: "nova-3", profiles: ["fast"] },
          { connection: "oa", model: "whisper-1" },
          { connection: "oa", model: "gpt-4o-transcribe" },
          { connection: "first", model: "one" },
        ],
        purposes: [{ purpose: "meetings", route: "speech" }],
      },
      // Without money nothing of it can be tried; a target that costs nothing could.
      { id: "priced-speech", targets: [{ connection: "dg", model: "nova-3" }] },
    ],
    workspaces: [
      {
        id: "acme",
        admin_keys: [{ id: "admin", secret: ADMIN_KEY }],
        apps: [
          {
            id: "notes",
            ...audio,
            keys: [
              key("notes", KEY, "transcribe", "chat", "jobs"),
              key("seeing", SEEING_KEY, "transcribe", "chat", "jobs", "routing:read"),
              key("narrow", NARROW_KEY, "chat"),
            ],
          },
          {
            id: "poor",
            route: "chat",
            audio_input_override: "priced-speech",
            budgets: [{ period: "total", limit_usd: "0" }],
            keys: [key("poor", POOR_KEY, "transcribe", "chat", "jobs")],
          },
          { id: "slow", ...audio, quota: { requests_per_minute: 1 }, keys: [key("slow", SLOW_KEY, "transcribe")] },
          {
            id: "strict",
            route: "chat",
            audio_purpose_policy: "strict",
            keys: [key("strict", STRICT_KEY, "transcribe")],
          },
        ],
      },
      { id: "other", apps: [{ id: "app", ...audio, keys: [key("other", OTHER_KEY, "transcribe", "chat", "jobs")] }] },
    ],
  };
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
