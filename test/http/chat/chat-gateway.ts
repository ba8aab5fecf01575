// A gateway whose chat route leads to scripted far ends, and what it wrote down about each call.
import type { Sandbox } from "../../../sandbox/server.ts";
import { startChatUpstream, type ChatUpstream } from "../../harness/chat-upstream.ts";
import { KEY, OTHER_KEY, startGateway, type TestGateway, type TestGatewayOptions } from "../../harness/gateway.ts";
import type { ConfigurationFile } from "../../../src/config/schema/file.ts";

const ALL_FEATURES = {
  tools: true,
  tool_choice: true,
  parallel_tool_calls: true,
  response_format: ["json_object" as const, "json_schema" as const],
  image_parts: true,
  audio_parts: true,
};

type App = NonNullable<NonNullable<ConfigurationFile["workspaces"]>[number]["apps"]>[number];
type Route = NonNullable<ConfigurationFile["routes"]>[number];

export interface ChatGatewayOptions {
  readonly app?: Partial<App>;
  readonly route?: Partial<Route>;
  readonly file?: (file: ConfigurationFile, sandbox: Sandbox) => ConfigurationFile;
  readonly gateway?: Omit<TestGatewayOptions, "file">;
}

export interface ChatGateway extends TestGateway {
  readonly first: ChatUpstream;
  readonly second: ChatUpstream;
}

/** Two targets, `first/one` and `second/two`, priced at 1 and 2 USD per million tokens in, 10 out. */
export async function startChatGateway(options: ChatGatewayOptions = {}): Promise<ChatGateway> {
  const first = await startChatUpstream();
  const second = await startChatUpstream();
  const base: ConfigurationFile = {
    prices: ["one", "two"].map((model, index) => ({
      provider: "openai-compatible" as const,
      model,
      usd_per_million_input_tokens: String(index + 1),
      usd_per_million_output_tokens: "10",
      source: "test",
      as_of: "2026-11-01",
    })),
    connections: [connection("first", first.url, "one"), connection("second", second.url, "two")],
    routes: [
      {
        id: "chat",
        targets: [
          { connection: "first", model: "one" },
          { connection: "second", model: "two" },
        ],
        ...options.route,
      },
    ],
    workspaces: [
      {
        id: "acme",
        apps: [
          {
            id: "notes",
            route: "chat",
            keys: [{ id: "notes-key", secret: KEY, scopes: ["chat"] }],
            ...options.app,
          },
        ],
      },
      {
        id: "other",
        apps: [{ id: "app", route: "chat", keys: [{ id: "other-key", secret: OTHER_KEY, scopes: ["chat"] }] }],
      },
    ],
  };
  const gateway = await startGateway({ ...options.gateway, file: (sandbox) => options.file?.(base, sandbox) ?? base });
  return {
    ...gateway,
    first,
    second,
    close: async () => {
      await first.close();
      await second.close();
      await gateway.close();
    },
  };
}

function connection(id: string, baseUrl: string, model: string): NonNullable<ConfigurationFile["connections"]>[number] {
  return {
    id,
    kind: "openai-compatible",
    api_key: `${id}-secret`,
    base_url: baseUrl,
    models: { [model]: { capabilities: ["chat"], features: ALL_FEATURES, limits: { max_output_tokens: 1_000 } } },
  };
}

/** Every attempt since the start, by position; what leases still hold in memory is written first. */
export async function attemptsOf(gateway: TestGateway) {
  await gateway.app.settled();
  return gateway.database.db.selectFrom("attempts").selectAll().orderBy("position").execute();
}

export async function forget(gateway: ChatGateway): Promise<void> {
  await gateway.app.settled();
  await gateway.database.db.deleteFrom("attempts").execute();
  gateway.first.calls.length = 0;
  gateway.second.calls.length = 0;
}
