// A gateway with something of everything for the examples of the OpenAPI documents, and the servers on the internet that they name.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import type { Sandbox } from "../../sandbox/server.ts";
import type { ConfigurationFile } from "../../src/config/schema/file.ts";
import { samplePath } from "../../src/cli/package-root.ts";
import { brand } from "../../src/contract/ids.ts";
import { createOutbound } from "../../src/outbound/dial.ts";
import { configurationWith } from "../harness/configuration.ts";
import { startGateway, type TestGateway } from "../harness/gateway.ts";
import { archiveSource, demoTar, specWith } from "../local-models/demo-model.ts";
import { pretendInternet } from "../outbound/pretend-internet.ts";

export const KEYS = {
  app: "test-key-of-an-app-that-does-all",
  admin: "test-key-of-the-administrator-01",
  operator: "test-key-of-the-operator-0000001",
} as const;
/** Recordings by the names that examples use. */
export const RECORDINGS: Readonly<Record<string, Uint8Array>> = {
  "call.mp3": new Uint8Array(readFileSync(samplePath())),
};
const PUBLIC = "93.184.216.34";
/** Only a transcript without words fits into its job. */
const INLINE_RESULT_BYTES = 2_500;

export interface ExampleWorld {
  readonly gateway: TestGateway;
  readonly close: () => Promise<void>;
}

export async function openWorld(): Promise<ExampleWorld> {
  await using opened = new AsyncDisposableStack();
  const server = createServer(answer);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  opened.defer(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const internet = pretendInternet();
  for (const name of ["media.example.com", "hooks.acme.example"]) internet.name(name, [PUBLIC]);
  internet.server(PUBLIC, url);
  // Its server has no TLS, so a pull starts and goes no further.
  const source = archiveSource(`https://${url.host}/demo-model.tar.bz2`, await demoTar());
  const outbound = createOutbound({});
  opened.defer(() => outbound.destroy());
  const gateway = await startGateway({
    file: exampleFile,
    network: internet,
    modelSource: { manifest: [specWith(source)], hosts: [url.host], outbound },
  });
  opened.defer(() => gateway.close());
  const kept = opened.move();
  return { gateway, close: () => kept.disposeAsync() };
}

/** A receiver of webhooks and a server of recordings. */
function answer(request: IncomingMessage, response: ServerResponse): void {
  request.resume();
  if (request.method === "POST") return void response.writeHead(204).end();
  const bytes = Buffer.from(RECORDINGS["call.mp3"] ?? []);
  response.writeHead(200, { "content-type": "audio/mpeg", "content-length": bytes.length }).end(bytes);
}

function exampleFile(sandbox: Sandbox): ConfigurationFile {
  return configurationWith(sandbox, {
    operator: KEYS.operator,
    admin: KEYS.admin,
    limits: { stt_job_inline_result_bytes: INLINE_RESULT_BYTES },
    scopes: ["transcribe", "chat", "jobs", "routing:read"],
    prices: { "deepgram/nova-3": "0.26", "openai/whisper-1": "0.36", "openai/gpt-4o-mini": ["0.15", "0.60"] },
    plans: { free: { monthly_chat_tokens: 1_000_000, credits_usd: "5" } },
    connections: { deepgram: "deepgram", openai: "openai" },
    routes: {
      speech: {
        targets: ["deepgram/nova-3", "openai/whisper-1", "openai/gpt-4o-mini"],
        translate_via_chat: true,
        purposes: { meetings: "speech" },
      },
    },
    workspaces: { acme: { audio_url_domains: ["media.example.com"], plan: "free" } },
    apps: {
      notes: {
        route: "speech",
        key: KEYS.app,
        quota: { requests_per_minute: 600 },
        budgets: [{ period: "month", limit_usd: "50" }],
      },
    },
  });
}

/** Recordings that a provider still has. */
export async function oweDeletion({ app, database }: TestGateway, subject: string): Promise<void> {
  const row = database.db.selectFrom("workspaces").select("id").where("slug", "=", "acme");
  const workspaceId = brand("workspace", (await row.executeTakeFirstOrThrow()).id);
  const apps = database.db.selectFrom("apps").select("id").where("slug", "=", "notes");
  await app.gateway.deletions.owe({
    workspaceId,
    appId: brand("app", (await apps.executeTakeFirstOrThrow()).id),
    subject,
    account: "platform/assemblyai",
    provider: "assemblyai",
    testMode: false,
    run: { id: "9ea68fd3-f953-42c1-9742-976c447fb463", details: {} },
    dueInSeconds: 3_600,
  });
}
