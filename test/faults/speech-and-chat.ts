// The configuration of trials with speech and chat: one app, whose audio goes to the simulated Deepgram and whose chats go to the simulated OpenAI.
import type { Sandbox } from "../../sandbox/server.ts";
import type { ConfigurationFile } from "../../src/config/schema/file.ts";

export interface TrialSecrets {
  readonly app: string;
  /** Secret of an administrator's key of the workspace, if the trial calls the admin API. */
  readonly admin?: string;
}

export function speechAndChat(
  { deepgramUrl, openaiUrl }: Pick<Sandbox, "deepgramUrl" | "openaiUrl">,
  { app, admin }: TrialSecrets,
): ConfigurationFile {
  return {
    connections: [
      { id: "dg", kind: "deepgram", api_key: "secret", base_url: deepgramUrl },
      { id: "oa", kind: "openai", api_key: "secret", base_url: openaiUrl },
    ],
    routes: [
      { id: "speech", targets: [{ connection: "dg", model: "nova-3" }] },
      { id: "chat", targets: [{ connection: "oa", model: "gpt-4o" }] },
    ],
    workspaces: [
      {
        id: "acme",
        apps: [
          {
            id: "notes",
            route: "chat",
            audio_input_override: "speech",
            keys: [{ id: "notes-key", secret: app, scopes: ["transcribe", "jobs", "chat"] }],
          },
        ],
        ...(admin === undefined ? {} : { admin_keys: [{ id: "acme-admin", secret: admin }] }),
      },
    ],
  };
}
