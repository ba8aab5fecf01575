// A workspace with two apps that use something, its administrator, and their neighbours.
import type { Sandbox } from "../../sandbox/server.ts";
import type { ConfigurationFile } from "../../src/config/schema/file.ts";
import { type Answer, send } from "../harness/client.ts";
import { KEY, OTHER_KEY, sandboxConnections, type TestGateway } from "../harness/gateway.ts";

export const ADMIN = "key-of-the-administrator-of-acme-1";
export const OTHER_ADMIN = "key-of-the-administrator-of-other1";
export const OPERATOR = "key-of-the-operator-of-everything1";
export const SECOND_KEY = "key-of-the-second-app-of-acme-0001";

export function workspaces(sandbox: Sandbox): ConfigurationFile {
  const app = (id: string, secret: string) => ({
    id,
    route: "speech",
    keys: [{ id: `${id}-key`, secret, scopes: ["transcribe" as const, "jobs" as const] }],
  });
  return {
    connections: sandboxConnections(sandbox),
    prices: [{ provider: "deepgram", model: "nova-3", usd_per_audio_hour: "3.6", source: "test", as_of: "2026-11-01" }],
    routes: [
      {
        id: "speech",
        targets: [
          { connection: "dg", model: "nova-3" },
          { connection: "oa", model: "whisper-1" },
        ],
      },
    ],
    operator_keys: [{ id: "root", secret: OPERATOR }],
    workspaces: [
      {
        id: "acme",
        apps: [app("notes", KEY), app("second", SECOND_KEY)],
        admin_keys: [{ id: "admin", secret: ADMIN }],
      },
      { id: "other", apps: [app("theirs", OTHER_KEY)], admin_keys: [{ id: "admin", secret: OTHER_ADMIN }] },
    ],
  };
}

export function ask(gateway: TestGateway, path: string, key: string, accept = "application/json"): Promise<Answer> {
  return send(`${gateway.origin}${path}`, { headers: { authorization: `Bearer ${key}`, accept } });
}
