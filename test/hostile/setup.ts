// A gateway with everything an attacker finds on one: audio, chat, jobs, remote audio, webhooks, administration. Its internet is
// one server on loopback; whatever else is dialled ends at the canary.
import { readdir } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { Sandbox } from "../../sandbox/server.ts";
import type { ConfigurationFile } from "../../src/config/schema/file.ts";
import { type ChatUpstream, startChatUpstream } from "../harness/chat-upstream.ts";
import { configurationWith } from "../harness/configuration.ts";
import { KEY, OTHER_KEY, startGateway, type TestGateway } from "../harness/gateway.ts";
import { PUBLIC_URL } from "../http/edge/harness.ts";
import { type PretendInternet, pretendInternet } from "../outbound/pretend-internet.ts";

export const ADMIN_KEY = "test-key-of-the-administrator-01";
export const OPERATOR_KEY = "test-key-of-the-operator-0000001";
/** The one public address at which something listens. */
const PUBLIC = "93.184.216.34";

/** A model's name that a spreadsheet would run. */
export const FORMULA = '=HYPERLINK("https://evil.example";"total")';

export interface Target {
  readonly gateway: TestGateway;
  readonly internet: PretendInternet;
  readonly chat: ChatUpstream;
  readonly port: number;
  readonly adminPort: number;
  /** What `media.example`, and the recogniser behind `OTHER_KEY`, answer from now on. */
  serve(handle: (request: IncomingMessage, response: ServerResponse) => void): void;
  /** All that a refused request must leave as it was. */
  traces(): Promise<Traces>;
  close(): Promise<void>;
}

export interface Traces {
  readonly providerCalls: number;
  readonly attempts: number;
  readonly jobs: number;
  readonly slots: number;
  readonly spooled: number;
  readonly canaryConnections: number;
}

export async function startTarget(): Promise<Target> {
  await using opened = new AsyncDisposableStack();
  const internet = pretendInternet();
  let handle = (_request: IncomingMessage, response: ServerResponse): void => void response.writeHead(404).end();
  const server = createServer((request, response) => handle(request, response)).listen(0, "127.0.0.1");
  await once(server, "listening");
  opened.defer(() => {
    server.closeAllConnections();
    server.close();
  });
  internet.name("media.example", [PUBLIC]);
  const chat = await startChatUpstream();
  opened.defer(() => chat.close());
  const ownUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const gateway = await startGateway({ network: internet, file: (sandbox) => fileOf(sandbox, chat.url, ownUrl) });
  internet.server(PUBLIC, new URL(ownUrl));
  opened.defer(() => gateway.close());
  const kept = opened.move();
  return {
    gateway,
    internet,
    chat,
    port: Number(new URL(gateway.origin).port),
    adminPort: Number(new URL(gateway.adminOrigin).port),
    serve: (next) => {
      handle = next;
    },
    traces: () => tracesOf(gateway, chat, internet),
    close: () => kept.disposeAsync(),
  };
}

async function tracesOf(gateway: TestGateway, chat: ChatUpstream, internet: PretendInternet): Promise<Traces> {
  const { db } = gateway.database;
  const count = async (table: "attempts" | "jobs" | "idempotency_slots"): Promise<number> => {
    const row = await db
      .selectFrom(table)
      .select(({ fn }) => fn.countAll<string>().as("count"))
      .executeTakeFirstOrThrow();
    return Number(row.count);
  };
  return {
    providerCalls: gateway.sandbox.callCount + chat.calls.length,
    attempts: await count("attempts"),
    jobs: await count("jobs"),
    slots: await count("idempotency_slots"),
    spooled: (await readdir(join(gateway.dataDir, "spool"))).length,
    canaryConnections: internet.canaryConnections(),
  };
}

function fileOf(sandbox: Sandbox, chatUrl: string, ownUrl: string): ConfigurationFile {
  return configurationWith(sandbox, {
    server: { public_url: PUBLIC_URL },
    operator: OPERATOR_KEY,
    admin: ADMIN_KEY,
    prices: { "openai-compatible/talker": ["10", "10"] },
    connections: {
      talk: {
        kind: "openai-compatible",
        base_url: chatUrl,
        models: {
          talker: {
            capabilities: ["chat"],
            features: { tools: true, tool_choice: true, response_format: ["json_schema"], image_parts: true },
          },
        },
      },
      theirs: {
        kind: "openai-compatible",
        base_url: `${ownUrl}/v1`,
        models: { [FORMULA]: { capabilities: ["audio_input"], features: { timestamps: ["word", "segment"] } } },
      },
    },
    routes: {
      theirs: `theirs/${FORMULA}`,
      both: ["dg/nova-3", "oa/whisper-1", "talk/talker"],
      speech: ["dg/nova-3", "oa/whisper-1"],
    },
    apps: { notes: { route: "both", scopes: ["transcribe", "jobs", "chat", "routing:read"], key: KEY } },
    workspaces: {
      acme: { audio_url_domains: ["media.example"] },
      other: {
        apps: { app: { route: "theirs", scopes: ["transcribe", "routing:read"], keys: { "other-key": OTHER_KEY } } },
      },
    },
  });
}
