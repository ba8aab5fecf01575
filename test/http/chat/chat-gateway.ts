// A gateway whose chat route leads to scripted far ends, and what it wrote down about each call.
import type { Sandbox } from "../../../sandbox/server.ts";
import { startChatUpstream, type ChatUpstream } from "../../harness/chat-upstream.ts";
import {
  type AppParts,
  type ConfigurationParts,
  configurationWith,
  type ConnectionSettings,
  mergeParts,
  type RouteSettings,
} from "../../harness/configuration.ts";
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

interface ChatBase extends ConfigurationParts {
  readonly connections: Readonly<Record<"first" | "second", ConnectionSettings>>;
}

export interface ChatGatewayOptions {
  readonly app?: AppParts;
  readonly route?: Partial<RouteSettings>;
  /** Added to the configuration below, by id. */
  readonly with?: (base: ChatBase) => ConfigurationParts;
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
  const base: ChatBase = {
    scopes: ["chat"],
    prices: { "openai-compatible/one": ["1", "10"], "openai-compatible/two": ["2", "10"] },
    connections: { first: chatConnection(first.url, "one"), second: chatConnection(second.url, "two") },
    routes: { chat: { targets: ["first/one", "second/two"], ...options.route } },
    apps: { notes: { route: "chat", key: KEY, ...options.app } },
    workspaces: { other: { apps: { app: { route: "chat", keys: { "other-key": OTHER_KEY } } } } },
  };
  const fileOf = (sandbox: Sandbox): ConfigurationFile => {
    const file = configurationWith(sandbox, mergeParts(base, options.with?.(base) ?? {}));
    return options.file?.(file, sandbox) ?? file;
  };
  const gateway = await startGateway({ ...options.gateway, file: fileOf });
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

function chatConnection(url: string, model: string): ConnectionSettings {
  return {
    kind: "openai-compatible",
    base_url: url,
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
