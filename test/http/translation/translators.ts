// The configuration of the translation tests: a route with a target that translates, one without, one BYOK, one with a price.
import type { Sandbox } from "../../../sandbox/server.ts";
import type { ConfigurationFile } from "../../../src/config/schema/file.ts";
import { type Answer, postForm, type TranscriptionCall } from "../../harness/client.ts";
import { configurationWith, target } from "../../harness/configuration.ts";

export const KEYS = {
  acme: "key-of-the-app-that-translates-01",
  deaf: "key-of-the-app-with-nova-alone-01",
  strict: "key-of-the-app-with-purposes-0001",
  own: "key-of-the-tenant-with-own-acct-1",
  local: "key-of-the-app-with-a-server-0001",
  chatOnly: "key-of-acme-that-may-only-chat-01",
} as const;

/** whisper-1 on the shared account costs 0.001 USD a second; the workspace `own` pays its own account. */
export function translators(sandbox: Pick<Sandbox, "deepgramUrl" | "openaiUrl">): ConfigurationFile {
  return configurationWith(sandbox, {
    scopes: ["transcribe"],
    prices: { "openai/whisper-1": "3.6" },
    connections: {
      local: {
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
    },
    routes: {
      speech: {
        targets: [target("dg/nova-3", { profiles: ["fast"] }), target("oa/whisper-1", { profiles: ["balanced"] })],
        purposes: { abroad: { description: "Calls from abroad", route: "speech" } },
      },
      local: "local/whisper-1",
      deaf: "dg/nova-3",
    },
    apps: {
      app: { keys: { app: KEYS.acme, chat: { secret: KEYS.chatOnly, scopes: ["chat"] } } },
      local: { key: KEYS.local },
      deaf: { key: KEYS.deaf },
      strict: { audio_purpose_policy: "strict", key: KEYS.strict },
    },
    workspaces: {
      own: {
        connections: { oa: { kind: "openai", api_key: "account-own" } },
        apps: { app: { keys: { own: KEYS.own } } },
      },
    },
  });
}

export function translate(origin: string, call: TranscriptionCall = {}): Promise<Answer> {
  return postForm(origin, { key: KEYS.acme, path: "/v1/translation", ...call });
}
