// An app for each of OpenAI's transcription models and one for a self-hosted server that speaks the same API.
import type { Sandbox } from "../../../sandbox/server.ts";
import type { ConfigurationFile } from "../../../src/config/schema/file.ts";

type Route = NonNullable<ConfigurationFile["routes"]>[number];

const TARGETS = {
  "whisper-1": ["oa", "whisper-1"],
  "gpt-4o-transcribe": ["oa", "gpt-4o-transcribe"],
  "gpt-4o-transcribe-diarize": ["oa", "gpt-4o-transcribe-diarize"],
  "gpt-transcribe": ["oa", "gpt-transcribe"],
  "self-hosted": ["local", "whisper"],
} as const;

/** The ids of the apps. */
export const MODELS = Object.keys(TARGETS);

export const keyOf = (app: string): string => `key-of-${app}-`.padEnd(40, "0");

/** `settings` are those of each of the models' routes; `more` are routes with an app of the same id each. */
export function openaiModels(
  sandbox: Sandbox,
  settings: Omit<Route, "id" | "targets"> = {},
  more: readonly Route[] = [],
): ConfigurationFile {
  const routes = [
    ...Object.entries(TARGETS).map(([id, [connection, model]]) => ({
      id,
      targets: [{ connection, model }],
      ...settings,
    })),
    ...more,
  ];
  return {
    connections: [
      { id: "oa", kind: "openai", api_key: "oa-secret", base_url: sandbox.openaiUrl },
      {
        id: "local",
        kind: "openai-compatible",
        base_url: sandbox.compatibleUrl("speaches"),
        models: { whisper: { capabilities: ["audio_input"], features: { timestamps: ["segment"] } } },
      },
    ],
    routes,
    workspaces: [
      {
        id: "acme",
        apps: routes.map(({ id }) => ({
          id,
          route: id,
          keys: [{ id: `${id}-key`, secret: keyOf(id), scopes: ["transcribe", "jobs"] }],
        })),
      },
    ],
  };
}
