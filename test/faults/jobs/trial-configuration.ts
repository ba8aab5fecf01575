// The configuration of the job trials: two apps with prices and budgets, so that every charge is visible.
import type { ConfigurationFile } from "../../../src/config/schema/file.ts";
import { ENCRYPTION_KEY, PEPPER } from "../../harness/gateway.ts";
import type { CountingSandbox } from "./counting-sandbox.ts";

/** One app's jobs need one call, the other's are submitted and polled. */
export const KEYS = ["faults-key-of-the-calls-app-01", "faults-key-of-the-runs-app-01"] as const;
export const ADMIN_KEY = "faults-key-of-the-administrator";

export function trialConfiguration(
  databaseUrl: string,
  sandbox: Pick<CountingSandbox, "deepgramUrl" | "assemblyaiUrl">,
  dataDir: string,
  limits: ConfigurationFile["limits"] = {},
): ConfigurationFile {
  return {
    limits,
    server: { host: "127.0.0.1", port: 0, admin: null },
    storage: { database_url: databaseUrl, data_dir: dataDir },
    secrets: { key_pepper: PEPPER.toString("base64"), encryption_keys: [ENCRYPTION_KEY.toString("base64")] },
    prices: [
      { provider: "deepgram", model: "nova-3", usd_per_audio_hour: "0.29", source: "test", as_of: "2026-11-01" },
      { provider: "assemblyai", model: "universal-2", usd_per_audio_hour: "0.15", source: "test", as_of: "2026-11-01" },
    ],
    webhooks: { allow_http: true, allowed_private_cidrs: ["127.0.0.0/8", "::1/128"] },
    connections: [
      { id: "dg", kind: "deepgram", api_key: "secret", base_url: sandbox.deepgramUrl },
      { id: "aai", kind: "assemblyai", api_key: "secret", base_url: sandbox.assemblyaiUrl },
    ],
    routes: [
      { id: "calls", targets: [{ connection: "dg", model: "nova-3" }] },
      { id: "runs", targets: [{ connection: "aai", model: "universal-2" }] },
    ],
    workspaces: [
      {
        id: "acme",
        admin_keys: [{ id: "admin", secret: ADMIN_KEY }],
        apps: ["calls", "runs"].map((id, index) => ({
          id,
          route: id,
          budgets: [{ period: "total", limit_usd: "100000.00" }],
          keys: [{ id: `${id}-key`, secret: KEYS[index] ?? KEYS[0], scopes: ["transcribe", "jobs"] }],
        })),
      },
    ],
  };
}
