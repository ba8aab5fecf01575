// A workspace with two apps that use something, its administrator, and their neighbours.
import type { Sandbox } from "../../sandbox/server.ts";
import type { ConfigurationFile } from "../../src/config/schema/file.ts";
import { type Answer, send } from "../harness/client.ts";
import { configurationWith } from "../harness/configuration.ts";
import { KEY, OTHER_KEY, type TestGateway } from "../harness/gateway.ts";

export const ADMIN = "key-of-the-administrator-of-acme-1";
export const OTHER_ADMIN = "key-of-the-administrator-of-other1";
export const OPERATOR = "key-of-the-operator-of-everything1";
export const SECOND_KEY = "key-of-the-second-app-of-acme-0001";

export const workspaces = (sandbox: Sandbox): ConfigurationFile =>
  configurationWith(sandbox, {
    scopes: ["transcribe", "jobs"],
    prices: { "deepgram/nova-3": "3.6" },
    routes: { speech: ["dg/nova-3", "oa/whisper-1"] },
    operator: OPERATOR,
    admin: ADMIN,
    apps: { notes: { key: KEY }, second: { key: SECOND_KEY } },
    workspaces: { other: { admin: OTHER_ADMIN, apps: { theirs: { key: OTHER_KEY } } } },
  });

export function ask(gateway: TestGateway, path: string, key: string, accept = "application/json"): Promise<Answer> {
  return send(`${gateway.origin}${path}`, { headers: { authorization: `Bearer ${key}`, accept } });
}
