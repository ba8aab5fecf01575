// An app for each of OpenAI's transcription models and one for a self-hosted server that speaks the same API.
import type { Sandbox } from "../../../sandbox/server.ts";
import type { ConfigurationFile } from "../../../src/config/schema/file.ts";
import { byId, configurationWith, type RouteSettings } from "../../harness/configuration.ts";

const TARGETS = {
  "whisper-1": "oa/whisper-1",
  "gpt-4o-transcribe": "oa/gpt-4o-transcribe",
  "gpt-4o-transcribe-diarize": "oa/gpt-4o-transcribe-diarize",
  "gpt-transcribe": "oa/gpt-transcribe",
  "self-hosted": "local/whisper",
} as const;

/** The ids of the apps. */
export const MODELS = Object.keys(TARGETS);

export const keyOf = (app: string): string => `key-of-${app}-`.padEnd(40, "0");

/** `settings` are those of each of the models' routes; `more` are routes with an app of the same id each. */
export function openaiModels(
  sandbox: Sandbox,
  settings: Omit<RouteSettings, "targets"> = {},
  more: Readonly<Record<string, string>> = {},
): ConfigurationFile {
  const routes = Object.fromEntries(
    Object.entries(TARGETS).map(([id, targets]) => [id, { targets, ...settings }] as const),
  );
  return configurationWith(sandbox, {
    scopes: ["transcribe", "jobs"],
    routes: { ...routes, ...more },
    apps: byId([...MODELS, ...Object.keys(more)], (id) => ({ key: keyOf(id) })),
  });
}
