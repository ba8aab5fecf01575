// The configuration of the translation tests: a route with a target that translates, one without, one BYOK, one with a price.
import type { Sandbox } from "../../../sandbox/server.ts";
import type { ConfigurationFile } from "../../../src/config/schema/file.ts";
import { type Answer, postForm, type TranscriptionCall } from "../../harness/client.ts";

export const KEYS = {
  acme: "key-of-the-app-that-translates-01",
  deaf: "key-of-the-app-with-nova-alone-01",
  strict: "key-of-the-app-with-purposes-0001",
  own: "key-of-the-tenant-with-own-acct-1",
  local: "key-of-the-app-with-a-server-0001",
  chatOnly: "key-of-acme-that-may-only-chat-01",
} as const;

/** whisper-1 on the platform's account costs 0.001 USD a second; the workspace `own` pays its own account. */
export function translators(sandbox: Pick<Sandbox, "deepgramUrl" | "openaiUrl">): ConfigurationFile {
  const key = (id: string, secret: string, scope: "transcribe" | "chat" = "transcribe") => ({
    id,
    secret,
    scopes: [scope],
  });
  return {
    prices: [
      { provider: "openai", model: "whisper-1", usd_per_audio_hour: "3.6", source: "test", as_of: "2026-11-01" },
    ],
    connections: [
      { id: "dg", kind: "deepgram", api_key: "dg-secret", base_url: sandbox.deepgramUrl },
      { id: "oa", kind: "openai", api_key: "oa-secret", base_url: sandbox.openaiUrl },
      {
        id: "local",
        kind: "openai-compatible",
        api_key: "oa-secret",
        base_url: sandbox.openaiUrl,
        models: {
          "whisper-1": {
            capabilities: ["audio_input"],
            features: { timestamps: ["word", "segment"], translation: true, diarization: true },
          },
        },
      },
    ],
    routes: [
      {
        id: "speech",
        targets: [
          { connection: "dg", model: "nova-3", profiles: ["fast"] },
          { connection: "oa", model: "whisper-1", profiles: ["balanced"] },
        ],
        purposes: [{ purpose: "abroad", description: "Calls from abroad", route: "speech" }],
      },
      { id: "local", targets: [{ connection: "local", model: "whisper-1" }] },
      { id: "deaf", targets: [{ connection: "dg", model: "nova-3" }] },
    ],
    workspaces: [
      {
        id: "acme",
        apps: [
          { id: "app", route: "speech", keys: [key("app", KEYS.acme), key("chat", KEYS.chatOnly, "chat")] },
          { id: "local", route: "local", keys: [key("local", KEYS.local)] },
          { id: "deaf", route: "deaf", keys: [key("deaf", KEYS.deaf)] },
          { id: "strict", route: "speech", audio_purpose_policy: "strict", keys: [key("strict", KEYS.strict)] },
        ],
      },
      {
        id: "own",
        connections: [{ id: "oa", kind: "openai", api_key: "account-own", base_url: sandbox.openaiUrl }],
        apps: [{ id: "app", route: "speech", keys: [key("own", KEYS.own)] }],
      },
    ],
  };
}

export function translate(origin: string, call: TranscriptionCall = {}): Promise<Answer> {
  return postForm(origin, { key: KEYS.acme, path: "/v1/translation", ...call });
}
