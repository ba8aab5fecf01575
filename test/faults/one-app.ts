// The configuration of a trial with a single provider, route and caller.
import type { Sandbox } from "../../sandbox/server.ts";
import type { ConfigurationFile } from "../../src/config/schema/file.ts";

export function oneApp(
  { deepgramUrl }: Pick<Sandbox, "deepgramUrl">,
  secret: string,
  limits: NonNullable<ConfigurationFile["limits"]> = {},
): ConfigurationFile {
  return {
    limits,
    connections: [{ id: "dg", kind: "deepgram", api_key: "secret", base_url: deepgramUrl }],
    routes: [{ id: "speech", targets: [{ connection: "dg", model: "nova-3" }] }],
    workspaces: [
      {
        id: "acme",
        apps: [{ id: "notes", route: "speech", keys: [{ id: "notes-key", secret, scopes: ["transcribe", "jobs"] }] }],
      },
    ],
  };
}
